//===- HandWritten.cpp - Hand-written kernels that a program needs --------===//

#include "CudaRoutines.h"
#include "DeviceCode.h"

#include "weft/Formats/InputFile.h"
#include "weft/Lowering/Cuda/Cuda.h"
#include "weft/Runtime/Execute/Transfers.h"

#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace mlir;
using namespace weft;

static constexpr llvm::StringLiteral kCopy = "Copy", kEmbedding = "Embedding",
                                     kAttentionF32 = "AttentionWide",
                                     kAttentionF16 = "AttentionF16",
                                     kAttentionBf16 = "AttentionBf16";

std::string weft::getHandWrittenFile(StringRef source,
                                     const CudaTarget &device) {
  return ("cuda/" + source + "-" + device.chip + ".cubin").str();
}

std::vector<std::string>
weft::listHandWrittenFiles(ArrayRef<CudaTarget> devices) {
  std::vector<std::string> files;
  for (const CudaTarget &device : devices)
    for (StringRef source :
         {StringRef(kCopy), StringRef(kEmbedding), StringRef(kAttentionF32),
          StringRef(kAttentionF16), StringRef(kAttentionBf16)})
      files.push_back(getHandWrittenFile(source, device));
  return files;
}

static StringRef getAttention(int64_t dtype) {
  return dtype == WEFT_F16    ? kAttentionF16
         : dtype == WEFT_BF16 ? kAttentionBf16
                              : kAttentionF32;
}

/// The source with the kernels that the routine of a command launches, or "".
static StringRef getSource(const RoutineCall &call,
                           const CudaRoutines &routines) {
  if (isTransfer(call.kind))
    return StringRef();
  switch (call.kind) {
  case WEFT_COPY:
  case WEFT_FILL:
    return kCopy;
  case WEFT_EMBEDDING:
  case WEFT_EMBEDDING_GRAD:
    return kEmbedding;
  case WEFT_ATTENTION:
  case WEFT_ATTENTION_GRAD:
    // The record of the gradient begins with that of the forward command.
    return routines.hasCudnn()
               ? StringRef()
               : getAttention(call.as<WeftAttentionRecord>()->dtype);
  case WEFT_KERNEL:    // a launch is no call
  case WEFT_CONSTANT:  // is a copy of the driver's
  case WEFT_GEMM:      // has a library of its own
  case WEFT_EXTENSION: // as products do
    break;
  }
  return StringRef();
}

FailureOr<std::vector<std::string>>
weft::findHandWritten(ModuleOp module, ArrayRef<CudaTarget> devices) {
  CudaRoutines routines(module, devices);
  std::set<std::string> sources;
  WalkResult walked = module.walk([&](plan::CommandOpInterface command) {
    if (isa<plan::LaunchOp>(command.getOperation()))
      return WalkResult::advance();
    FailureOr<RoutineCall> call = RoutineCall::get(command, routines);
    if (failed(call))
      return WalkResult::interrupt();
    if (StringRef source = getSource(*call, routines); !source.empty())
      sources.insert(source.str());
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return std::vector<std::string>(sources.begin(), sources.end());
}

/// A kernel that each source has.
static StringRef getSomeKernel(StringRef source) {
  return llvm::StringSwitch<StringRef>(source)
      .Case(kCopy, "weft_copy_16")
      .Case(kEmbedding, "weft_embedding_16")
      .Case(kAttentionF32, "weft_attention_delta_f32")
      .Case(kAttentionF16, "weft_attention_delta_f16")
      .Case(kAttentionBf16, "weft_attention_delta_bf16");
}

static Expected<std::string> readMachineCode(const std::string &path,
                                             StringRef source, StringRef chip) {
  Expected<std::string> code = readFile(path);
  if (!code)
    return code.takeError();
  Expected<Cubin> cubin = readCubin(*code);
  if (!cubin)
    return cubin.takeError();
  if (Status status = checkCubin(*cubin, chip, getSomeKernel(source)); !status)
    return status.takeError();
  return code;
}

Expected<DeviceImage> weft::readHandWritten(const std::string &path,
                                            StringRef source,
                                            const CudaTarget &device) {
  Expected<std::string> code = readMachineCode(path, source, device.chip);
  if (!code) {
    Error error = code.takeError();
    return error.withCode(ExitCode::Device)
        .at(path)
        .hint("is weft built where CMake found a CUDA toolkit, with " +
              device.chip + " in WEFT_CUDA_CHIPS?");
  }
  return DeviceImage{device.chip, {code->begin(), code->end()}};
}
