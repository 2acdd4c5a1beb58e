//===- CudaTarget.cpp - CUDA devices as targets ---------------------------===//

#include "weft/Pipeline/Targets/Target.h"

#include "weft/Pipeline/Options/CudaModels.h"

#include "weft/Base/Text.h"
#include "weft/Formats/Cubin.h"
#include "weft/Fusion/Passes.h"
#include "weft/Lowering/Cuda/Cuda.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Pipeline/Targets/RuntimeFolder.h"
#include "weft/Schedule/Passes.h"
#include "weft/Sharding/MeshSyntax.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace weft;

/// Assumed: as many channels as NCCL uses between eight H100. Estimates know
/// it as `slows_compute` of examples/clusters/h100.toml.
static constexpr int64_t kCollectiveCtas = 16;

/// Phases of all targets, and of devices alone.
static std::vector<Phase> getPhases() {
  std::vector<Phase> phases = getCommonPhases();
  phases.insert(llvm::find(phases, Phase::Estimate),
                {Phase::AlignProducts, Phase::GroupLaunches});
  phases.insert(llvm::find(phases, Phase::PlanMemory), Phase::AssignStreams);
  return phases;
}

/// A build without the headers of cuDNN has no routines that call it.
static AttentionLibrary getAttention(const FlagValues &flags) {
  const std::string &attention = flags.getText("attention");
  if (attention == kCudnn)
    return AttentionLibrary::Cudnn;
  return attention == "auto" && hasCudnnRoutines()
             ? AttentionLibrary::CudnnOrOwn
             : AttentionLibrary::Own;
}

static bool isDeterministic(const FlagValues &flags) {
  return flags.getText("deterministic") == "on";
}

namespace {
class Cuda final : public Target {
public:
  explicit Cuda(ArrayRef<CudaTarget> devices) : devices(devices) {}

  void addPasses(Phase phase, const FlagValues &flags,
                 OpPassManager &passes) const override;
  StringRef getKernelLibrary() const override { return "cuda"; }
  int64_t getAlignment() const override { return kDeviceAlignment; }
  StringRef getRates() const override { return "h100"; }
  bool usesMpi() const override { return false; }
  /// One NCCL communicator runs one collective at a time, and two would share
  /// the same links.
  bool sharesCommStream() const override { return true; }
  /// Kernels of two NCCL communicators at once would need one order on the
  /// multiprocessors of all ranks.
  bool runsCollectivesInTurn() const override { return true; }
  bool hasNativeReductions() const override { return true; }
  int64_t getCollectiveCtas() const override { return kCollectiveCtas; }
  /// An update of many small parameters is one launch.
  StringRef getBucketRule() const override { return "scope"; }
  bool joinsAcrossRoundings() const override { return true; }
  bool widensInReaders() const override { return true; }
  bool addsRowsInKernels() const override { return true; }
  bool hasGeluOfProducts(const FlagValues &flags) const override {
    return flags.getText("epilogues") == "on";
  }
  /// cuDNN draws other masks, and refuses dropout.
  bool mayStoreDropoutBits(const FlagValues &flags) const override {
    return getAttention(flags) != AttentionLibrary::Cudnn;
  }
  std::string getIdentity() const override {
    return joinChips(devices) + " " + identifyToolkit();
  }
  StringRef getKernelOp() const override { return "gpu.module"; }

  Status checkFlags(const FlagValues &flags) const override;
  std::optional<MemoryBound> getMemory(const FlagValues &flags) const override;
  bool hasOptionalLibrary(ModuleOp plan) const override;
  std::vector<ReservedMemory>
  getReserved(ModuleOp module, const FlagValues &flags) const override;
  Status checkPlan(ModuleOp module, const FlagValues &flags) const override;
  /// Text output is for one chip, so the target must have one chip.
  Status checkEmit(StringRef emit, StringRef target) const override {
    bool isText = emit == "ptx" || emit == "llvm";
    if (!isText || devices.size() == 1)
      return Status::success();
    return usageError("--emit=" + emit.str() +
                      " expects a target with one chip, but got " +
                      target.str())
        .hint("--target=cuda:" + devices.front().chip +
              " makes the same machine code for this chip");
  }
  FailureOr<std::string> emitLlvmIr(ModuleOp module) const override {
    return emitDeviceIr(module, devices.front());
  }
  FailureOr<std::string> emitPtx(ModuleOp module) const override {
    return weft::emitPtx(module, devices.front());
  }
  FailureOr<std::vector<char>> emitObject(ModuleOp module) const override;

  TargetLibraries getLibraries() const override {
    // Symbols would be 0.3 MiB of a program that may have 6.
    return {{"libWeftCudaKernels.a", "libWeftCudaDevice.a"},
            {"-Wl,--strip-all"},
            "build weft where CMake finds a CUDA toolkit, with " +
                joinChips(devices) + " in WEFT_CUDA_CHIPS",
            listHandWrittenFiles(devices)};
  }
  void describe(ModuleOp plan, Json &metadata) const override {
    Json chips = Json::array();
    for (const CudaTarget &device : devices)
      chips.push(device.chip);
    metadata.set("cuda_chips", std::move(chips));
    if (const int64_t commands = countNondeterministic(plan))
      metadata.set("nondeterministic_commands", commands);
  }

private:
  int64_t getMostCudnnBytes() const;

  SmallVector<CudaTarget> devices;
};
} // namespace

static void alignProducts(const FlagValues &flags, OpPassManager &passes) {
  passes.addPass(createPadRowsPass());
  passes.addPass(createWidenProductsPass());
  passes.addPass(createPadGradientsPass());
}

/// Sums over rows that many blocks compute, in the kernels of their rows, and
/// one flag for all gradients.
static void prepareSums(OpPassManager &passes) {
  passes.nest<ProgramOp>().addPass(createShareNumbersPass());
  passes.nest<ProgramOp>().addPass(createCloneCastsPass());
  passes.nest<ProgramOp>().addPass(createSinkSumsPass());
  SplitSumsPassOptions options;
  options.sumsInRows = true;
  // A thread takes up to eight columns.
  options.tileColumns = 256;
  passes.addPass(createSplitSumsPass(options));
}

static void lowerToCuda(const FlagValues &flags, OpPassManager &passes) {
  ConvertKernelsToLinalgPassOptions kernels;
  kernels.fast = flags.getText("numerics") == "fast";
  passes.addPass(createConvertKernelsToLinalgPass(kernels));
  passes.addPass(createLowerToCudaPass());
  passes.addPass(createDescribeLaunchesPass());
}

void Cuda::addPasses(Phase phase, const FlagValues &flags,
                     OpPassManager &passes) const {
  // --debug-nan checks whole buffers, and runs a kernel of its own for each op,
  // which would store widened values.
  const bool checksBuffers = flags.getSwitch("debug-nan");
  if (phase == Phase::Decompose && !checksBuffers)
    passes.nest<ProgramOp>().addPass(createMergeLossesPass());
  if (phase == Phase::Fuse && !checksBuffers)
    prepareSums(passes);
  if (phase == Phase::AlignProducts && !checksBuffers)
    alignProducts(flags, passes);
  if (phase == Phase::GroupLaunches && !checksBuffers)
    passes.addPass(createGroupLaunchesPass());
  if (phase == Phase::AssignStreams) {
    passes.addPass(createAssignStreamsPass());
    if (!checksBuffers)
      passes.addPass(createGroupCopiesPass());
  }
  if (phase == Phase::PlanMemory) {
    passes.addPass(createChooseAttentionPass(
        {joinChips(devices), getAttention(flags), getMostCudnnBytes(),
         isDeterministic(flags)}));
    AddDeviceWorkspacesPassOptions options;
    options.chips = joinChips(devices);
    passes.addPass(createAddDeviceWorkspacesPass(options));
  }
  if (phase == Phase::LowerToTarget)
    lowerToCuda(flags, passes);
}

Status Cuda::checkFlags(const FlagValues &flags) const {
  if (flags.isSet("threads-max"))
    return usageError("--threads-max expects a target of the CPU, but got "
                      "--target=" +
                      flags.getText("target"));
  if (flags.getSwitch("tf32") && flags.getText("precision") != "f32")
    return usageError("--tf32 expects --precision=f32, but got " +
                      flags.getText("precision"));
  if (!flags.isSet("device"))
    return Status::success();
  const CudaModel *model = findCudaModel(flags.getText("device"));
  if (llvm::any_of(devices, [&](const CudaTarget &device) {
        return device.chip == model->chip;
      }))
    return Status::success();
  return usageError("--device=" + flags.getText("device") +
                    " expects a --target with " + model->chip.str() +
                    ", but got cuda:" + joinChips(devices));
}

std::optional<MemoryBound> Cuda::getMemory(const FlagValues &flags) const {
  if (!flags.isSet("device"))
    return std::nullopt;
  const CudaModel *model = findCudaModel(flags.getText("device"));
  const std::string flag = "--device=" + model->name.str();
  return MemoryBound{model->visibleBytes(), flag,
                     flag + " has " + exactBytes(model->visibleBytes()) + " (" +
                         std::to_string(model->gigabytes) +
                         " GiB, of which the driver keeps 2 %)"};
}

/// All ranks have one communicator, and with several axes those along each axis
/// another. Reductions in a stream of their own have as many.
static int64_t countCommunicators(const FlagValues &flags) {
  if (!flags.isSet("mesh"))
    return 0;
  const std::optional<MeshText> mesh = parseMesh(flags.getText("mesh"));
  const auto axes = mesh ? static_cast<int64_t>(mesh->size()) : 0;
  const int64_t groups = axes > 1 ? axes + 1 : axes;
  return flags.getText("comm-streams") == "2" ? 2 * groups : groups;
}

bool Cuda::hasOptionalLibrary(ModuleOp plan) const { return usesCudnn(plan); }

std::vector<ReservedMemory> Cuda::getReserved(ModuleOp module,
                                              const FlagValues &flags) const {
  std::vector<ReservedMemory> reserved = {
      {"context and machine code", CudaReserve::kContext}};
  if (usesCudnn(module))
    reserved.push_back({"cuDNN", CudaReserve::kCudnn});
  if (const int64_t count = countCommunicators(flags))
    reserved.push_back(
        {count == 1 ? "NCCL, 1 communicator"
                    : "NCCL, " + std::to_string(count) + " communicators",
         count * CudaReserve::kCommunicator});
  return reserved;
}

/// Largest workspace of a command that --attention=auto gives to cuDNN, and of
/// gradients that stay deterministic with --deterministic=off: a tenth of the
/// memory of the smallest device with one of the chips. It does not depend on
/// --device, so programs with and without it are equal.
int64_t Cuda::getMostCudnnBytes() const {
  int64_t least = 0;
  for (const CudaTarget &device : devices)
    if (const int64_t bytes = findLeastMemory(device.chip))
      least = least == 0 ? bytes : std::min(least, bytes);
  return least / 10;
}

Status Cuda::checkPlan(ModuleOp module, const FlagValues &flags) const {
  if (isDeterministic(flags) && countNondeterministic(module) > 0)
    return inputError("expects a plan for --deterministic=on in weft.options, "
                      "but got attention with " +
                      kNondeterministicAttr.str())
        .hint("edit a dump from before plan-memory");
  const std::optional<std::string> wrong =
      findOtherMark(module, getAttention(flags));
  if (!wrong)
    return Status::success();
  return inputError("expects a plan for --attention=" +
                    flags.getText("attention") + " in weft.options, but got " +
                    (wrong->empty()
                         ? "attention without " + kAttentionAttr.str()
                         : kAttentionAttr.str() + " of " + inQuotes(*wrong)))
      .hint("edit a dump from before plan-memory");
}

/// The ABI version of code that emitCubin() has made.
static unsigned getAbiVersion(const std::vector<char> &code) {
  return readCubin({code.data(), code.size()})->abiVersion;
}

/// Machine code of the generated kernels of each device. The ptxas that makes
/// it decides which drivers load the program.
static FailureOr<SmallVector<DeviceImage>>
emitGenerated(ModuleOp module, ArrayRef<CudaTarget> devices) {
  SmallVector<DeviceImage> images;
  for (const CudaTarget &device : devices) {
    FailureOr<std::vector<char>> code = emitCubin(module, device);
    if (failed(code))
      return failure();
    images.push_back({device.chip, std::move(*code)});
  }
  return images;
}

FailureOr<std::vector<char>> Cuda::emitObject(ModuleOp module) const {
  FailureOr<std::string> ptxas = findInToolkit(module, kPtxas);
  if (failed(ptxas))
    return failure();
  FailureOr<std::vector<std::string>> parts = findHandWritten(module, devices);
  if (failed(parts))
    return failure();
  Expected<std::string> folder = runtimeFolder();
  if (!folder)
    return emitMachineError(module.getContext(), folder.error());
  FailureOr<SmallVector<DeviceImage>> images = emitGenerated(module, devices);
  if (failed(images))
    return failure();
  for (auto [i, device] : llvm::enumerate(devices)) {
    const unsigned abi = getAbiVersion((*images)[i].code);
    for (StringRef part : *parts) {
      Expected<DeviceImage> image =
          readHandWritten(*folder, part, device, abi, *ptxas);
      if (!image)
        return emitMachineError(module.getContext(), image.error());
      images->push_back(std::move(*image));
    }
  }
  return emitCudaObject(module, devices, *images);
}

static Expected<std::unique_ptr<Target>> parseCuda(StringRef text) {
  std::string problem;
  FailureOr<SmallVector<CudaTarget>> devices = parseCudaTargets(text, problem);
  if (failed(devices))
    return usageError(problem);
  return std::unique_ptr<Target>(std::make_unique<Cuda>(*devices));
}

TargetKind weft::cudaTargetKind() {
  return {"cuda",
          {"cuda:sm_80", "cuda:sm_90", "cuda:sm_100"},
          getPhases(),
          "lower-to-cuda",
          "kernels are LLVM functions in a gpu.module",
          parseCuda,
          registerLoweringCudaModels,
          registerLoweringCudaPasses};
}
