//===- CpuTarget.cpp - The CPU as a target --------------------------------===//

#include "weft/Pipeline/Targets/Target.h"

#include "weft/Fusion/Passes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Pipeline/Options/CompileFlags.h"

#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <sched.h>

using namespace mlir;
using namespace weft;

namespace {
class CpuKernels final : public KernelCompiler {
public:
  explicit CpuKernels(const CpuTarget &processor) : processor(processor) {}

  void addPasses(const FlagValues &flags, OpPassManager &passes) const override;
  FailureOr<std::vector<char>> emit(ModuleOp module) const override {
    return emitKernelObject(module, processor);
  }
  FailureOr<std::vector<char>> emitTables(ModuleOp module) const override {
    return emitTableObject(module, processor);
  }

private:
  const CpuTarget &processor;
};

class Cpu final : public Target {
public:
  Cpu(CpuTarget processor, int64_t threads)
      : processor(std::move(processor)), threads(threads) {}

  void addPasses(Phase phase, const FlagValues &flags,
                 OpPassManager &passes) const override {
    if (phase == Phase::PlanMemory)
      addWorkspaces(flags, passes);
  }
  StringRef getKernelLibrary() const override { return "cpu"; }
  int64_t getAlignment() const override { return kWorkspaceAlignment; }
  StringRef getBucketRule() const override { return kNoBuckets; }
  std::string getIdentity() const override {
    return processor.cpu + " " + processor.features + " " +
           std::to_string(threads);
  }
  StringRef getKernelOp() const override { return "llvm.func"; }
  Status checkFlags(const FlagValues &flags) const override;

  FailureOr<std::string> emitLlvmIr(ModuleOp module) const override {
    return weft::emitLlvmIr(module, processor);
  }
  FailureOr<std::vector<char>> emitObject(ModuleOp module) const override {
    return weft::emitObject(module, processor);
  }
  const KernelCompiler *getKernelCompiler() const override { return &kernels; }

  TargetLibraries getLibraries() const override {
    return {{"libWeftCpuKernels.a", "libWeftHostDevice.a"},
            {"-ldnnl", "-l:libgomp.so.1"},
            "is libdnnl-dev installed?"};
  }
  void describe(ModuleOp, Json &metadata) const override {
    metadata.set("cpu_features",
                 Json::arrayOf(processor.getRequiredFeatures()));
  }

private:
  void addWorkspaces(const FlagValues &flags, OpPassManager &passes) const;

  CpuTarget processor;
  CpuKernels kernels{processor};
  int64_t threads; // that programs run on, unless a flag says it
};
} // namespace

Status Cpu::checkFlags(const FlagValues &flags) const {
  for (const char *flag : {"device", "epilogues", "tf32"})
    if (flags.isSet(flag))
      return usageError(std::string("--") + flag +
                        " expects a target of CUDA devices, but got --target=" +
                        flags.getText("target"))
          .hint("such as --target=cuda:sm_90");
  return Status::success();
}

void Cpu::addWorkspaces(const FlagValues &flags, OpPassManager &passes) const {
  AddWorkspacesPassOptions options;
  options.threads =
      flags.isSet("threads-max") ? flags.getInt("threads-max") : threads;
  passes.addPass(createAddWorkspacesPass(options));
}

void CpuKernels::addPasses(const FlagValues &flags,
                           OpPassManager &passes) const {
  ConvertKernelsToLinalgPassOptions kernels;
  kernels.fast = flags.getText("numerics") == "fast";
  passes.addPass(createConvertKernelsToLinalgPass(kernels));
  LowerToCpuPassOptions options;
  options.fma = processor.hasFma();
  passes.addPass(createLowerToCpuPass(options));
}

/// Processors of this machine that this process may use, at most 64: each costs
/// memory for workspaces.
static int64_t countProcessors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0)
    return kDefaultMaxThreads;
  return std::clamp<int64_t>(CPU_COUNT(&set), 1, 64);
}

static Expected<std::unique_ptr<Target>> parseCpu(StringRef text) {
  std::string problem;
  FailureOr<CpuTarget> processor = CpuTarget::parse(text, problem);
  if (failed(processor))
    return usageError(problem);
  bool isThisMachine = text == "cpu";
  return std::unique_ptr<Target>(std::make_unique<Cpu>(
      std::move(*processor),
      isThisMachine ? countProcessors() : kDefaultMaxThreads));
}

TargetKind weft::cpuTargetKind() {
  return {"cpu",
          {"cpu", "cpu:x86-64-v2", "cpu:x86-64-v3", "cpu:x86-64-v4"},
          getCommonPhases(),
          "lower-to-cpu",
          "kernels are LLVM functions over a range",
          parseCpu,
          registerLoweringCpuModels,
          registerLoweringCpuPasses};
}
