//===- AttentionChoice.cpp - cuDNN or own kernels -------------------------===//
//
// Routines of commands that a program has in both forms. They are chosen for
// all commands at once, before the first run, so that a program repeats its
// bits.
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"

#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Runtime/Execute/CudaAttentionRun.h"

using namespace weft;

namespace {
/// The choice of a context, kept across calls.
struct AttentionChoice {
  std::string refusal; // of cuDNN; "" while it computes attention
};
} // namespace

static AttentionChoice &choiceOf(WeftContext &context) {
  static const char key = 0;
  std::shared_ptr<void> &slot = context.state(&key);
  if (!slot)
    slot = std::make_shared<AttentionChoice>();
  return *static_cast<AttentionChoice *>(slot.get());
}

std::string weft::cudnnRefusal(WeftContext &context) {
  return choiceOf(context).refusal;
}

void weft::forgoCudnn(WeftContext &context, const std::string &reason) {
  choiceOf(context).refusal = reason;
  cuda::closeCudnn(context);
}

extern "C" void weft_cuda_attention_cudnn_or_own(WeftContext *context,
                                                 const WeftCommand *command,
                                                 void *const *buffers) {
  if (choiceOf(*context).refusal.empty())
    weft_cuda_attention_cudnn(context, command, buffers);
  else
    weft_cuda_attention(context, command, buffers);
}

extern "C" void weft_cuda_attention_grad_cudnn_or_own(
    WeftContext *context, const WeftCommand *command, void *const *buffers) {
  if (choiceOf(*context).refusal.empty())
    weft_cuda_attention_grad_cudnn(context, command, buffers);
  else
    weft_cuda_attention_grad(context, command, buffers);
}

/// Own kernels have a fixed order of their own.
extern "C" void weft_cuda_attention_grad_cudnn_or_own_nondeterministic(
    WeftContext *context, const WeftCommand *command, void *const *buffers) {
  if (choiceOf(*context).refusal.empty())
    weft_cuda_attention_grad_cudnn_nondeterministic(context, command, buffers);
  else
    weft_cuda_attention_grad(context, command, buffers);
}

/// The message and the remedy.
static std::string textOf(const Error &error) {
  const std::string &hint = error.hintText();
  return error.message() + (hint.empty() ? "" : "; " + hint);
}

/// A library that is missing or too old, or a command that it does not plan in
/// its workspace, is a refusal. Wrong tables stay an error.
static bool isRefusal(int code) {
  return code == int(ExitCode::Device) || code == int(ExitCode::DoesNotFit);
}

/// Lets cuDNN plan the command by a function, unless it computes nothing.
static void prepareChoice(WeftContext *context, const WeftCommand *command,
                          void *const *buffers, WeftLibraryFn prepare) {
  if (!choiceOf(*context).refusal.empty())
    return;
  if (Status opened = cuda::openCudnn(*context); !opened)
    return forgoCudnn(*context, textOf(opened.error()));
  prepare(context, command, buffers);
  if (context->failed() && isRefusal(context->error()))
    forgoCudnn(*context, textOf(context->takeError()));
}

extern "C" void weft_cuda_attention_cudnn_or_own_prepare(
    WeftContext *context, const WeftCommand *command, void *const *buffers) {
  prepareChoice(context, command, buffers, weft_cuda_attention_cudnn_prepare);
}

extern "C" void weft_cuda_attention_grad_cudnn_or_own_nondeterministic_prepare(
    WeftContext *context, const WeftCommand *command, void *const *buffers) {
  prepareChoice(context, command, buffers,
                weft_cuda_attention_grad_cudnn_nondeterministic_prepare);
}
