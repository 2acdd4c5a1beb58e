//===- CudaAttention.cpp - cuDNN or own kernels compute attention ---------===//

#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/OpenLibrary.h"
#include "weft/Runtime/Execute/CudaAttentionRun.h"

#include <algorithm>
#include <initializer_list>

// Weak: a program links only the routines of its own commands.
namespace weft {
[[gnu::weak]] std::vector<LibraryName> cudnnLibraries();
[[gnu::weak]] std::string cudnnVersion(WeftContext &context);
[[gnu::weak]] std::string cudnnRefusal(WeftContext &context);
[[gnu::weak]] void forgoCudnn(WeftContext &context, const std::string &reason);
} // namespace weft
extern "C" {
#define WEFT_WEAK_ROUTINE(symbol)                                              \
  [[gnu::weak]] void symbol(WeftContext *, const WeftCommand *, void *const *);
WEFT_WEAK_ROUTINE(weft_cuda_attention)
WEFT_WEAK_ROUTINE(weft_cuda_attention_grad)
WEFT_CUDNN_ROUTINES(WEFT_WEAK_ROUTINE)
#undef WEFT_WEAK_ROUTINE
}

using namespace weft;

/// A routine that the program does not link is null.
static bool isOneOf(WeftLibraryFn routine,
                    std::initializer_list<WeftLibraryFn> routines) {
  return routine &&
         std::find(routines.begin(), routines.end(), routine) != routines.end();
}

/// Whether cuDNN adds up in an order that differs from run to run.
static bool isNondeterministic(const WeftCommand &command) {
  return isOneOf(command.library,
                 {weft_cuda_attention_grad_cudnn_nondeterministic,
                  weft_cuda_attention_grad_cudnn_or_own_nondeterministic});
}

CudaAttention::Code CudaAttention::codeOf(const WeftCommand &command) {
  const WeftLibraryFn routine = command.library;
  if (isOneOf(routine, {weft_cuda_attention, weft_cuda_attention_grad}))
    return Code::Own;
  if (isOneOf(routine,
              {weft_cuda_attention_cudnn, weft_cuda_attention_grad_cudnn,
               weft_cuda_attention_grad_cudnn_nondeterministic}))
    return Code::Cudnn;
  if (isOneOf(routine,
              {weft_cuda_attention_cudnn_or_own,
               weft_cuda_attention_grad_cudnn_or_own,
               weft_cuda_attention_grad_cudnn_or_own_nondeterministic}))
    return Code::CudnnOrOwn;
  return Code::None;
}

CudaAttention::CudaAttention(const WeftExecutable &executable) {
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program)) {
      has[size_t(codeOf(command))] = true;
      hasAnyOrder |= isNondeterministic(command);
    }
}

std::vector<LibraryName> CudaAttention::libraries() const {
  return contains(Code::Cudnn) ? cudnnLibraries() : std::vector<LibraryName>();
}

WeftLibraryFn CudaAttention::plannerOf(const WeftCommand &command) {
  switch (codeOf(command)) {
  case Code::Cudnn:
    return isNondeterministic(command)
               ? weft_cuda_attention_grad_cudnn_nondeterministic_prepare
               : weft_cuda_attention_cudnn_prepare;
  case Code::CudnnOrOwn:
    return isNondeterministic(command)
               ? weft_cuda_attention_grad_cudnn_or_own_nondeterministic_prepare
               : weft_cuda_attention_cudnn_or_own_prepare;
  case Code::Own:
  case Code::None:
    return nullptr;
  }
  return nullptr;
}

WeftLibraryFn CudaAttention::ownRoutineOf(const WeftCommand &command) {
  switch (codeOf(command)) {
  case Code::CudnnOrOwn:
    return command.kind == WEFT_ATTENTION ? weft_cuda_attention
                                          : weft_cuda_attention_grad;
  case Code::Cudnn:
    return nullptr;
  case Code::Own:
  case Code::None:
    return command.library;
  }
  return nullptr;
}

std::string CudaAttention::refusal(WeftContext &context) const {
  return contains(Code::CudnnOrOwn) ? cudnnRefusal(context) : "";
}

void CudaAttention::forgo(WeftContext &context,
                          const std::string &reason) const {
  if (contains(Code::CudnnOrOwn))
    forgoCudnn(context, reason);
}

Settings CudaAttention::facts(WeftContext &context) const {
  const bool runsCudnn = contains(Code::Cudnn) || (contains(Code::CudnnOrOwn) &&
                                                   refusal(context).empty());
  const bool runsOwn =
      contains(Code::Own) || (contains(Code::CudnnOrOwn) && !runsCudnn);
  if (!runsCudnn && !runsOwn)
    return {};
  Settings known = {{"attention", !runsCudnn ? "own"
                                  : runsOwn  ? "cudnn and own"
                                             : "cudnn"}};
  if (runsCudnn)
    known.push_back({"cudnn", cudnnVersion(context)});
  // Own kernels are deterministic.
  if (runsCudnn && hasAnyOrder)
    known.push_back({"deterministic", "off"});
  return known;
}
