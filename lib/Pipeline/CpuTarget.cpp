//===- CpuTarget.cpp - The CPU as a target --------------------------------===//

#include "CpuTarget.h"

#include "weft/Kernels/Passes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Pipeline/Passes.h"
#include "weft/Pipeline/Phases.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace weft;

static constexpr llvm::StringLiteral kLowerToCpu = "lower-to-cpu";

static const Phase kPhases[] = {
    {kLowerToCpu.data(), "kernels are LLVM functions over a range",
     Level::Llvm},
};

namespace {
class Cpu final : public Target {
public:
  explicit Cpu(CpuTarget processor) : processor(std::move(processor)) {}

  void addPasses(StringRef phase, const FlagValues &flags,
                 OpPassManager &passes) const override {
    if (phase == "plan-memory")
      measureScratch(flags, passes);
    else if (phase == kLowerToCpu)
      lowerKernels(flags, passes);
  }
  StringRef getKernelOp() const override { return "llvm.func"; }

  FailureOr<std::string> emitLlvmIr(ModuleOp module) const override {
    return weft::emitLlvmIr(module, processor);
  }
  FailureOr<std::vector<char>> emitObject(ModuleOp module) const override {
    return weft::emitObject(module, processor);
  }

  TargetLibraries getLibraries() const override {
    return {{"libWeftCpuKernels.a"}, {"-ldnnl"}, "is libdnnl-dev installed?"};
  }
  void describe(Json &metadata) const override {
    metadata.set("cpu_features",
                 Json::arrayOf(processor.getRequiredFeatures()));
  }

private:
  void measureScratch(const FlagValues &flags, OpPassManager &passes) const;
  void lowerKernels(const FlagValues &flags, OpPassManager &passes) const;

  CpuTarget processor;
};
} // namespace

void Cpu::measureScratch(const FlagValues &flags, OpPassManager &passes) const {
  MeasureScratchPassOptions options;
  if (flags.isSet("threads-max"))
    options.threads = flags.getInt("threads-max");
  passes.addPass(createMeasureScratchPass(options));
}

void Cpu::lowerKernels(const FlagValues &flags, OpPassManager &passes) const {
  passes.addPass(createDescribeExecutablePass());
  ConvertKernelsToLinalgPassOptions kernels;
  kernels.fast = flags.getText("numerics") == "fast";
  passes.addPass(createConvertKernelsToLinalgPass(kernels));
  LowerToCpuPassOptions options;
  options.fma = processor.hasFma();
  passes.addPass(createLowerToCpuPass(options));
}

static Expected<std::unique_ptr<Target>> parseCpu(StringRef text) {
  std::string problem;
  FailureOr<CpuTarget> processor = CpuTarget::parse(text, problem);
  if (failed(processor))
    return usageError(problem);
  return std::unique_ptr<Target>(std::make_unique<Cpu>(std::move(*processor)));
}

TargetKind weft::cpuTargetKind() {
  return {"cpu",
          {"cpu", "cpu:x86-64-v2", "cpu:x86-64-v3", "cpu:x86-64-v4"},
          kPhases,
          parseCpu,
          registerLoweringCpuModels,
          registerLoweringCpuPasses};
}
