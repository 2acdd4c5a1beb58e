//===- TargetTest.cpp - A target that the driver has never heard of -------===//

#include "weft/Pipeline/Target.h"

#include "Driver.h"

#include "weft/Pipeline/InitAll.h"
#include "weft/Pipeline/Link.h"
#include "weft/Pipeline/Passes.h"
#include "weft/Pipeline/Phases.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <fstream>

using namespace mlir;

namespace weft {
namespace {

//===----------------------------------------------------------------------===//
// The target: streams of its own, and kernels that are gone when it is done
//===----------------------------------------------------------------------===//

struct AssignToyStreamsPass
    : PassWrapper<AssignToyStreamsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssignToyStreamsPass)
  StringRef getArgument() const override { return "toy-assign-streams"; }
  void runOnOperation() override {
    bool isPlaced = getOperation()->hasAttr(plan::PlanDialect::kArenaBytesAttr);
    getOperation()->setAttr("toy.streams",
                            BoolAttr::get(&getContext(), !isPlaced));
  }
};

struct LowerToToyPass : PassWrapper<LowerToToyPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToToyPass)
  StringRef getArgument() const override { return "toy-lower"; }
  void runOnOperation() override {
    for (KernelOp kernel :
         llvm::make_early_inc_range(getOperation().getOps<KernelOp>()))
      kernel.erase();
  }
};

const Phase kToyPhases[] = {
    {"assign-streams", "every command has a toy stream", Level::Plan},
    {"lower-to-toy", "no kernel is left", Level::Llvm},
};

class Toy final : public Target {
public:
  explicit Toy(std::string level) : level(std::move(level)) {}

  void addPasses(StringRef phase, const FlagValues &,
                 OpPassManager &passes) const override {
    if (phase == "assign-streams" || phase == "plan-memory")
      passes.addPass(std::make_unique<AssignToyStreamsPass>());
    if (phase == "lower-to-toy") {
      passes.addPass(createDescribeExecutablePass());
      passes.addPass(std::make_unique<LowerToToyPass>());
    }
  }
  StringRef getKernelLibrary() const override { return "cpu"; }
  int64_t getAlignment() const override { return 128; }
  StringRef getBucketRule() const override { return kNoBuckets; }
  std::string getIdentity() const override { return "toy"; }
  StringRef getKernelOp() const override { return "toy.kernel"; }
  FailureOr<std::string> emitLlvmIr(ModuleOp) const override {
    return "; for " + level;
  }
  FailureOr<std::vector<char>> emitObject(ModuleOp module) const override {
    if (level == "toy")
      return std::vector<char>{'t', 'o', 'y'};
    return module.emitError("has no object for ") << level;
  }
  TargetLibraries getLibraries() const override {
    return {{"libToy.a"}, {"-ltoy"}, "is the toy there?"};
  }
  void describe(Json &metadata) const override {
    metadata.set("toy_level", level);
  }

private:
  std::string level;
};

Expected<std::unique_ptr<Target>> parseToy(StringRef text) {
  if (text == "toy" || text == "toy:fast")
    return std::unique_ptr<Target>(std::make_unique<Toy>(text.str()));
  return usageError("expects the target toy or toy:fast, but got " +
                    text.str());
}

const bool kRegistered = [] {
  registerTarget({"toy",
                  {"toy", "toy:fast"},
                  kToyPhases,
                  parseToy,
                  [](DialectRegistry &) {},
                  [] {
                    PassRegistration<AssignToyStreamsPass>();
                    PassRegistration<LowerToToyPass>();
                  }});
  return true;
}();

//===----------------------------------------------------------------------===//
// The driver with it
//===----------------------------------------------------------------------===//

/// A dump of the model behind `phase`.
std::string writeDump(const char *target, const char *phase) {
  Compiler compiler;
  EXPECT_EQ(compileTo(compiler, kModel, parseFlags({target}), phase), "");
  std::string path = testing::TempDir() + "/target-test.mlir";
  std::ofstream(path) << compiler.text();
  return path;
}

TEST(Target, HasItsPhases) {
  ASSERT_TRUE(kRegistered);
  Expected<PhaseTable> cpu = PhaseTable::get(parseFlags({}));
  Expected<PhaseTable> toy = PhaseTable::get(parseFlags({"--target=toy"}));
  ASSERT_TRUE(cpu && toy);
  EXPECT_EQ(toy->find("lower-to-cpu"), -1);
  EXPECT_EQ(cpu->find("lower-to-toy"), -1);
  EXPECT_TRUE(isPhaseName("lower-to-cpu") && isPhaseName("lower-to-toy"));
  EXPECT_FALSE(isPhaseName("toy"));
  // One replaces a shared phase, one stands between verify-plan and emit.
  EXPECT_EQ(toy->size(), cpu->size());
  EXPECT_EQ(toy->find("assign-streams"), cpu->find("assign-streams"));
  EXPECT_EQ(toy->find("lower-to-toy"), toy->find("verify-plan") + 1);
  EXPECT_EQ(toy->findLast(Level::Llvm), toy->find("lower-to-toy"));
  EXPECT_EQ(toy->dumpFileName(toy->find("lower-to-toy")),
            "23-lower-to-toy.mlir");
}

TEST(Target, ItsPassesPrintAndParse) {
  registerAllPasses();
  FlagValues flags = parseFlags({"--target=toy"});
  Expected<PhaseTable> phases = PhaseTable::get(flags);
  ASSERT_TRUE(phases);
  Expected<std::string> text = pipelineText(
      *phases, flags, phases->find("estimate"), phases->findLast(Level::Llvm));
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "builtin.module(\n"
                   "  toy-assign-streams,\n"
                   "  toy-assign-streams,\n"
                   "  weft-plan-memory{alignment=128 report=false},\n"
                   "  weft-verify-plan,\n"
                   "  weft-describe-executable,\n"
                   "  toy-lower\n"
                   ")");
}

TEST(Target, CompilesAndEmits) {
  Compiler compiler;
  ASSERT_EQ(
      compileTo(compiler, kModel, parseFlags({"--target=toy"}), "lower-to-toy"),
      "");
  ModuleOp module = compiler.module();
  // What it adds to plan-memory ran before the pass of the phase.
  EXPECT_EQ(module->getAttr("toy.streams"),
            BoolAttr::get(module.getContext(), true));
  EXPECT_TRUE(module.getOps<KernelOp>().empty());
  StringAttr metadata = module->getAttrOfType<StringAttr>("weft.metadata");
  ASSERT_TRUE(metadata);
  EXPECT_NE(metadata.getValue().find(R"("target":"toy","toy_level":"toy")"),
            StringRef::npos);
  EXPECT_EQ(metadata.getValue().find("cpu_features"), StringRef::npos);
  Expected<std::string> ir = compiler.llvmIr();
  ASSERT_TRUE(ir);
  EXPECT_EQ(*ir, "; for toy");
  Expected<std::vector<char>> object = compiler.objectCode();
  ASSERT_TRUE(object);
  EXPECT_EQ(std::string(object->begin(), object->end()), "toy");
}

TEST(Target, AnErrorOfItsCodeIsThatOfTheCompiler) {
  Compiler compiler;
  ASSERT_EQ(compileTo(compiler, kModel, parseFlags({"--target=toy:fast"}),
                      "lower-to-toy"),
            "");
  Expected<std::vector<char>> object = compiler.objectCode();
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().message(), "has no object for toy:fast");
}

TEST(Target, ItsArchivesStandBeforeWhatTheyUse) {
  using Names = std::vector<std::string>;
  Expected<std::shared_ptr<const Target>> toy =
      findTarget(parseFlags({"--target=toy"}));
  Expected<std::shared_ptr<const Target>> cpu = findTarget(parseFlags({}));
  ASSERT_TRUE(toy && cpu);
  EXPECT_EQ(runtimeArchives(**toy),
            (Names{"libWeftRuntimeMain.a", "libWeftRuntime.a", "libToy.a",
                   "libWeftRuntimeCore.a", "libWeftFormats.a"}));
  EXPECT_EQ(runtimeArchives(**cpu),
            (Names{"libWeftRuntimeMain.a", "libWeftRuntime.a",
                   "libWeftCpuKernels.a", "libWeftHostDevice.a",
                   "libWeftRuntimeCore.a", "libWeftFormats.a"}));
}

TEST(Target, ADumpNamesItsTarget) {
  std::string path = writeDump("--target=toy", "verify-plan");
  Compiler compiler;
  ASSERT_EQ(compileTo(compiler, path, parseFlags({"--from=verify-plan"}),
                      "lower-to-toy"),
            "");
  EXPECT_EQ(compiler.phases().find("lower-to-cpu"), -1);
  EXPECT_TRUE(compiler.module().getOps<KernelOp>().empty());

  FlagValues behind = parseFlags({"--from=lower-to-toy"});
  Compiler early;
  EXPECT_EQ(errorOf(early.load(path, behind)),
            "expects a dump written after lower-to-toy, with toy.kernel, but "
            "got one with plan.program");
  path = writeDump("--target=cpu", "verify-plan");
  Compiler other;
  EXPECT_EQ(errorOf(other.load(path, behind)),
            "expects a dump for a target with the phase lower-to-toy, but got "
            "one for cpu");
}

TEST(Target, UnknownOnesAreErrors) {
  auto messageOf = [](const char *flag) {
    Expected<PhaseTable> phases = PhaseTable::get(parseFlags({flag}));
    return phases ? "" : phases.error().message();
  };
  EXPECT_EQ(messageOf("--target=toy:slow"),
            "expects the target toy or toy:fast, but got toy:slow");
  EXPECT_EQ(messageOf("--target=cpu:z80"),
            "expects the target cpu, cpu:x86-64-v2, cpu:x86-64-v3 or "
            "cpu:x86-64-v4, but got cpu:z80");
  EXPECT_EQ(messageOf("--target=tpu"),
            "expects the target cpu, cpu:x86-64-v2, cpu:x86-64-v3, "
            "cpu:x86-64-v4, cuda:sm_80, cuda:sm_90, cuda:sm_100, toy or "
            "toy:fast, but got tpu");
  EXPECT_EQ(messageOf("--target=cuda:sm_75"),
            "expects the target cuda:sm_80, cuda:sm_90 or cuda:sm_100, but got "
            "cuda:sm_75");
}

} // namespace
} // namespace weft
