//===- CudaTarget.cpp - CUDA devices as targets ---------------------------===//

#include "CudaTarget.h"

#include "weft/Kernels/Passes.h"
#include "weft/Lowering/Cuda/Cuda.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Pipeline/Passes.h"
#include "weft/Pipeline/Phases.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace weft;

static constexpr llvm::StringLiteral kLowerToCuda = "lower-to-cuda";

static const Phase kPhases[] = {
    {kLowerToCuda.data(), "kernels are LLVM functions in a gpu.module",
     Level::Llvm},
};

namespace {
class Cuda final : public Target {
public:
  explicit Cuda(CudaTarget device) : device(std::move(device)) {}

  void addPasses(StringRef phase, const FlagValues &flags,
                 OpPassManager &passes) const override {
    if (phase != kLowerToCuda)
      return;
    passes.addPass(createDescribeExecutablePass());
    ConvertKernelsToLinalgPassOptions kernels;
    kernels.fast = flags.getText("numerics") == "fast";
    passes.addPass(createConvertKernelsToLinalgPass(kernels));
    passes.addPass(createLowerToCudaPass());
  }
  StringRef getKernelLibrary() const override { return "cuda"; }
  int64_t getAlignment() const override { return kDeviceAlignment; }
  std::string getIdentity() const override { return device.chip; }
  StringRef getKernelOp() const override { return "gpu.module"; }

  Status checkEmit(StringRef emit, StringRef target) const override {
    if (emit != "obj" && emit != "exe")
      return Status::success();
    return usageError("does not support --emit=" + emit.str() +
                      " for --target=" + target.str() +
                      " yet: the runtime for CUDA is not built")
        .hint("--emit=ptx writes the kernels");
  }
  FailureOr<std::string> emitLlvmIr(ModuleOp module) const override {
    return emitDeviceIr(module, device);
  }
  FailureOr<std::string> emitPtx(ModuleOp module) const override {
    return weft::emitPtx(module, device);
  }
  FailureOr<std::vector<char>> emitObject(ModuleOp module) const override {
    return module.emitError("has no runtime for CUDA");
  }

  TargetLibraries getLibraries() const override { return {}; }
  void describe(Json &) const override {}

private:
  CudaTarget device;
};
} // namespace

static Expected<std::unique_ptr<Target>> parseCuda(StringRef text) {
  std::string problem;
  FailureOr<CudaTarget> device = CudaTarget::parse(text, problem);
  if (failed(device))
    return usageError(problem);
  return std::unique_ptr<Target>(std::make_unique<Cuda>(std::move(*device)));
}

TargetKind weft::cudaTargetKind() {
  return {"cuda",
          {"cuda:sm_80", "cuda:sm_90", "cuda:sm_100"},
          kPhases,
          parseCuda,
          registerLoweringCudaModels,
          registerLoweringCudaPasses};
}
