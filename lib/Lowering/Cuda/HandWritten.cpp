//===- HandWritten.cpp - Hand-written kernels that a program needs --------===//

#include "CudaRoutines.h"

#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Base/InputFile.h"
#include "weft/Lowering/Cuda/Cuda.h"
#include "weft/Lowering/Cuda/DeviceCode.h"
#include "weft/Plan/PlanCollectives.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;
using namespace weft;

static constexpr llvm::StringLiteral kCopy = "Copy", kEmbedding = "Embedding",
                                     kRankSums = "RankSums",
                                     kAttentionF32 = "AttentionWide",
                                     kAttentionF16 = "AttentionF16",
                                     kAttentionBf16 = "AttentionBf16";

/// The kernels of a width, with or without rules of a WeftAttentionVariant.
static std::string makePart(StringRef attention, int64_t width, bool varies) {
  return (attention + "-" + std::to_string(width) + (varies ? "-variant" : ""))
      .str();
}

std::string weft::getHandWrittenFile(StringRef part, const CudaTarget &device,
                                     StringRef kind) {
  return ("cuda/" + part + "-" + device.chip + "." + kind).str();
}

std::vector<std::string>
weft::listHandWrittenFiles(ArrayRef<CudaTarget> devices) {
  std::vector<std::string> parts = {kCopy.str(), kEmbedding.str(),
                                    kRankSums.str()};
  for (StringRef attention : {kAttentionF32, kAttentionF16, kAttentionBf16})
    for (int64_t width : kHeadWidths)
      for (bool varies : {false, true})
        parts.push_back(makePart(attention, width, varies));
  std::vector<std::string> files;
  for (const CudaTarget &device : devices)
    for (const std::string &part : parts)
      for (StringRef kind : {"cubin", "ptx"})
        files.push_back(getHandWrittenFile(part, device, kind));
  return files;
}

/// The record of the gradient begins with the forward record.
static std::string getAttention(const RoutineCall &call) {
  const auto &record = *call.as<WeftAttentionRecord>();
  return makePart(record.dtype == WEFT_F16    ? kAttentionF16
                  : record.dtype == WEFT_BF16 ? kAttentionBf16
                                              : kAttentionF32,
                  cudaHeadWidth(record.headSize), isVariant(getVariant(call)));
}

/// The part with the kernels that the routine of a command launches, or "".
static std::string getPart(Operation *command, const RoutineCall &call) {
  if (isTransfer(call.kind))
    return "";
  if (isa<plan::ReduceScatterOp, plan::AllReduceOp>(command))
    return kRankSums.str();
  if (isa<plan::RankOp>(command))
    return kCopy.str();
  switch (call.kind) {
  case WEFT_COPY:
  case WEFT_FILL:
    return kCopy.str();
  case WEFT_EMBEDDING:
  case WEFT_EMBEDDING_GRAD:
    return kEmbedding.str();
  case WEFT_ATTENTION:
  case WEFT_ATTENTION_GRAD:
    return getAttentionLibrary(command) == AttentionLibrary::Cudnn
               ? ""
               : getAttention(call);
  case WEFT_KERNEL:    // a launch is no call
  case WEFT_CONSTANT:  // is a copy of the driver's
  case WEFT_GEMM:      // has a library of its own
  case WEFT_EXTENSION: // as products do
    break;
  }
  return "";
}

FailureOr<std::vector<std::string>>
weft::findHandWritten(ModuleOp module, ArrayRef<CudaTarget> devices) {
  CudaRoutines routines(module, devices);
  std::set<std::string> parts;
  WalkResult walked = module.walk([&](plan::CommandOpInterface command) {
    if (isa<plan::LaunchOp>(command.getOperation()))
      return WalkResult::advance();
    FailureOr<RoutineCall> call = RoutineCall::get(command, routines);
    if (failed(call))
      return WalkResult::interrupt();
    if (std::string part = getPart(command, *call); !part.empty())
      parts.insert(std::move(part));
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return std::vector<std::string>(parts.begin(), parts.end());
}

/// A kernel that the part has, and no other one.
static std::string getSomeKernel(StringRef part) {
  auto [source, rest] = part.split('-');
  std::string width = rest.str();
  std::replace(width.begin(), width.end(), '-', '_');
  const StringRef kernel =
      llvm::StringSwitch<StringRef>(source)
          .Case(kCopy, "weft_copy_16")
          .Case(kEmbedding, "weft_embedding_16")
          .Case(kRankSums, "weft_rank_sum_f32")
          .Case(kAttentionF32, "weft_attention_delta_f32")
          .Case(kAttentionF16, "weft_attention_delta_f16")
          .Case(kAttentionBf16, "weft_attention_delta_bf16");
  return (width.empty() ? kernel : kernel + "_" + width).str();
}

/// The facts of machine code, which has to be of that part and chip.
static Expected<Cubin> checkPart(std::string_view code, StringRef part,
                                 StringRef chip) {
  Expected<Cubin> cubin = readCubin(code);
  if (!cubin)
    return cubin;
  if (Status status = checkCubin(*cubin, chip, getSomeKernel(part)); !status)
    return status.takeError();
  return cubin;
}

/// The architecture that PTX is for: "sm_90a" of `.target sm_90a`; "" if it
/// names none.
static StringRef getArchitecture(StringRef ptx) {
  return ptx.split("\n.target ").second.take_while([](char letter) {
    return llvm::isAlnum(letter) || letter == '_';
  });
}

/// The chips for which a folder has a part, in order.
static std::vector<std::string> listChips(const std::string &folder,
                                          StringRef part) {
  std::vector<std::string> chips;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    if (name.consume_front(part) && name.consume_front("-") &&
        name.consume_back(".cubin"))
      chips.push_back(name.str());
  }
  llvm::sort(chips);
  return chips;
}

/// Names the chips that can be chosen instead.
static std::string getInstallationHint(const std::string &path, StringRef part,
                                       StringRef chip) {
  const std::vector<std::string> chips =
      listChips(llvm::sys::path::parent_path(path).str(), part);
  if (llvm::is_contained(chips, chip))
    return "install weft again";
  if (chips.empty())
    return "this installation has no kernels for CUDA devices; build weft "
           "where CMake finds a CUDA toolkit, with " +
           chip.str() + " in WEFT_CUDA_CHIPS";
  return "this installation has kernels for " + llvm::join(chips, ", ") +
         "; build weft with " + chip.str() + " in WEFT_CUDA_CHIPS for more";
}

Expected<DeviceImage> weft::readHandWritten(const std::string &folder,
                                            StringRef part,
                                            const CudaTarget &device,
                                            unsigned mostAbi,
                                            const std::string &ptxas) {
  auto pathOf = [&](StringRef kind) {
    return folder + "/" + getHandWrittenFile(part, device, kind);
  };
  auto refuse = [&](Error error, const std::string &path) {
    return error.withCode(ExitCode::Device)
        .at(path)
        .hint(getInstallationHint(path, part, device.chip));
  };
  Expected<std::string> code = readFile(pathOf("cubin"));
  if (!code)
    return refuse(code.takeError(), pathOf("cubin"));
  Expected<Cubin> cubin = checkPart(*code, part, device.chip);
  if (!cubin)
    return refuse(cubin.takeError(), pathOf("cubin"));
  if (cubin->abiVersion <= mostAbi)
    return DeviceImage{device.chip, {code->begin(), code->end()}};
  Expected<std::string> ptx = readFile(pathOf("ptx"));
  if (!ptx)
    return refuse(ptx.takeError(), pathOf("ptx"));
  const StringRef architecture = getArchitecture(*ptx);
  if (architecture.empty())
    return refuse(inputError("expects PTX with a .target, but got none"),
                  pathOf("ptx"));
  // As in kernels/cuda/CMakeLists.txt.
  Expected<std::vector<char>> assembled =
      assemblePtx(ptxas, architecture, *ptx, {std::string("--fmad=false")});
  if (!assembled)
    return assembled.takeError();
  Expected<Cubin> made =
      checkPart({assembled->data(), assembled->size()}, part, device.chip);
  if (!made)
    return made.takeError().withCode(ExitCode::Device).at(ptxas);
  return DeviceImage{device.chip, std::move(*assembled)};
}
