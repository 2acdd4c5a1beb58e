//===- TargetTest.cpp - A target that the driver has never heard of -------===//

#include "weft/Pipeline/Targets/Target.h"

#include "CompileTo.h"

#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Pipeline/Driver/Link.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
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

/// Faults of a kernel compiler.
enum class Fault { None, LoweringFails, EmissionFails };
Fault fault = Fault::None;

/// A kernel becomes an empty module of its name.
struct EmptyPass : PassWrapper<EmptyPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmptyPass)
  void runOnOperation() override {
    for (KernelOp kernel :
         llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      if (fault == Fault::LoweringFails) {
        kernel.emitError("is too much for a toy");
        return signalPassFailure();
      }
      OpBuilder builder(kernel);
      ModuleOp::create(builder, kernel.getLoc(), kernel.getSymName());
      kernel.erase();
    }
  }
};

/// Its objects tell how many kernels there were.
class ToyKernels final : public KernelCompiler {
public:
  void addPasses(const FlagValues &, OpPassManager &passes) const override {
    passes.addPass(std::make_unique<EmptyPass>());
  }
  FailureOr<std::vector<char>> emit(ModuleOp module) const override {
    if (fault == Fault::EmissionFails)
      return module.emitError("has no code for a toy");
    auto kernels = module.getOps<ModuleOp>();
    const std::string text =
        std::to_string(std::distance(kernels.begin(), kernels.end())) +
        " kernels";
    return std::vector<char>(text.begin(), text.end());
  }
  FailureOr<std::vector<char>> emitTables(ModuleOp) const override {
    return std::vector<char>{'t'};
  }
};

/// One with streams of its own.
std::vector<Phase> getToyPhases() {
  std::vector<Phase> phases = getCommonPhases();
  phases.insert(llvm::find(phases, Phase::PlanMemory), Phase::AssignStreams);
  return phases;
}

class Toy final : public Target {
public:
  explicit Toy(std::string level) : level(std::move(level)) {}

  void addPasses(Phase phase, const FlagValues &,
                 OpPassManager &passes) const override {
    if (phase == Phase::AssignStreams || phase == Phase::PlanMemory)
      passes.addPass(std::make_unique<AssignToyStreamsPass>());
    if (phase == Phase::LowerToTarget && !getKernelCompiler())
      passes.addPass(std::make_unique<LowerToToyPass>());
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
  const KernelCompiler *getKernelCompiler() const override {
    return level == "toy:apart" ? &kernels : nullptr;
  }
  TargetLibraries getLibraries() const override {
    return {{"libToy.a"}, {"-ltoy"}, "is the toy there?"};
  }
  void describe(ModuleOp, Json &metadata) const override {
    metadata.set("toy_level", level);
  }

private:
  std::string level;
  ToyKernels kernels;
};

Expected<std::unique_ptr<Target>> parseToy(StringRef text) {
  if (text == "toy" || text == "toy:fast" || text == "toy:apart")
    return std::unique_ptr<Target>(std::make_unique<Toy>(text.str()));
  return usageError("expects the target toy, toy:fast or toy:apart, but got " +
                    text.str());
}

const bool kRegistered = [] {
  registerTarget({"toy",
                  {"toy", "toy:fast", "toy:apart"},
                  getToyPhases(),
                  "lower-to-toy",
                  "no kernel is left",
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
  // It has another phase, and its own name for the last but one.
  EXPECT_EQ(toy->size(), cpu->size() + 1);
  EXPECT_EQ(cpu->find(Phase::AssignStreams), -1);
  EXPECT_EQ(toy->find(Phase::AssignStreams), cpu->find(Phase::PlanMemory));
  EXPECT_EQ(toy->find("lower-to-toy"), toy->find(Phase::VerifyPlan) + 1);
  EXPECT_EQ(toy->findLast(Level::Llvm), toy->find(Phase::LowerToTarget));
  EXPECT_EQ(toy->dumpFileName(toy->find("lower-to-toy")),
            "24-lower-to-toy.mlir");
}

TEST(Target, ItsPassesPrintAndParse) {
  registerAllPasses();
  FlagValues flags = parseFlags({"--target=toy"});
  Expected<PhaseTable> phases = PhaseTable::get(flags);
  ASSERT_TRUE(phases);
  Expected<std::string> text =
      pipelineText(*phases, flags, phases->find(Phase::Estimate),
                   phases->findLast(Level::Llvm));
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
  // The target's pass in plan-memory ran before the pass of the phase.
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

//===----------------------------------------------------------------------===//
// Kernels by themselves
//===----------------------------------------------------------------------===//

/// The texts of the objects that an executable is linked from.
std::vector<std::string> objectTexts(Compiler &compiler) {
  Expected<Objects> objects = compiler.programObjects();
  EXPECT_TRUE(objects) << objects.error().message();
  std::vector<std::string> texts;
  for (const std::vector<char> &object : *objects)
    texts.emplace_back(object.begin(), object.end());
  return texts;
}

/// The error of a compilation for toy:apart with one thing wrong.
std::string errorWith(Fault what) {
  fault = what;
  Compiler compiler;
  std::string error = compileTo(
      compiler, kModel, parseFlags({"--target=toy:apart"}), "lower-to-toy");
  if (error.empty()) {
    Expected<Objects> objects = compiler.programObjects();
    error = objects ? "" : objects.error().message();
  }
  fault = Fault::None;
  return error;
}

unsigned countKernels(Compiler &compiler) {
  return llvm::range_size(compiler.module().getOps<ModuleOp>());
}

TEST(KernelCompiler, WithoutOneThereIsOneObject) {
  Compiler compiler;
  ASSERT_EQ(
      compileTo(compiler, kModel, parseFlags({"--target=toy"}), "lower-to-toy"),
      "");
  EXPECT_EQ(objectTexts(compiler), std::vector<std::string>{"toy"});
}

/// The tables come first, whichever thread is done first.
std::vector<std::string> getParts(Compiler &compiler) {
  return {"t", std::to_string(countKernels(compiler)) + " kernels"};
}

TEST(KernelCompiler, MakesAnObjectBehindTheTables) {
  Compiler compiler;
  ASSERT_EQ(compileTo(compiler, kModel, parseFlags({"--target=toy:apart"}),
                      "lower-to-toy"),
            "");
  EXPECT_NE(countKernels(compiler), 0u);
  EXPECT_EQ(objectTexts(compiler), getParts(compiler));
  // Another time they are made again.
  EXPECT_EQ(objectTexts(compiler), getParts(compiler));
}

TEST(KernelCompiler, TheModuleIsTheSamePhaseByPhase) {
  Compiler whole;
  ASSERT_EQ(compileTo(whole, kModel, parseFlags({"--target=toy:apart"}),
                      "lower-to-toy"),
            "");
  Compiler steps;
  ASSERT_EQ(compileTo(steps, kModel, parseFlags({"--target=toy:apart"}),
                      "lower-to-plan"),
            "");
  ASSERT_EQ(errorOf(steps.run(steps.phases().find(Phase::LowerToTarget))), "");
  EXPECT_EQ(steps.text(), whole.text());
  EXPECT_EQ(objectTexts(steps), getParts(whole));
}

TEST(KernelCompiler, GoingBackMakesTheCodeAgain) {
  Compiler compiler;
  compiler.keepSnapshots();
  FlagValues flags = parseFlags({"--target=toy:apart"});
  ASSERT_EQ(compileTo(compiler, kModel, flags, "lower-to-toy"), "");
  ASSERT_EQ(errorOf(compiler.goBack(Phase::LowerToPlan, flags)), "");
  ASSERT_EQ(errorOf(compiler.run(compiler.phases().find(Phase::LowerToTarget))),
            "");
  EXPECT_EQ(objectTexts(compiler), getParts(compiler));
}

TEST(KernelCompiler, ItsErrorsAreThoseOfTheCompilation) {
  EXPECT_EQ(errorWith(Fault::LoweringFails), "is too much for a toy");
  EXPECT_EQ(errorWith(Fault::EmissionFails), "has no code for a toy");
}

std::vector<std::string> getLoadedDialects(Compiler &compiler) {
  std::vector<std::string> names;
  for (Dialect *dialect : compiler.module().getContext()->getLoadedDialects())
    names.push_back(dialect->getNamespace().str());
  return names;
}

/// To load one is not safe while another thread looks at them.
TEST(KernelCompiler, NoDialectComesLate) {
  for (const char *target : {"--target=cpu", "--target=toy:apart"}) {
    Compiler compiler;
    ASSERT_EQ(compileTo(compiler, kModel, parseFlags({target}), "import"), "");
    std::vector<std::string> first = getLoadedDialects(compiler);
    int last = compiler.phases().findLast(Level::Llvm);
    ASSERT_EQ(errorOf(compiler.run(last)), "");
    EXPECT_TRUE(compiler.programObjects());
    EXPECT_EQ(getLoadedDialects(compiler), first);
  }
}

TEST(Target, ItsArchivesStandBeforeWhatTheyUse) {
  using Names = std::vector<std::string>;
  Expected<std::shared_ptr<const Target>> toy =
      findTarget(parseFlags({"--target=toy"}));
  Expected<std::shared_ptr<const Target>> cpu = findTarget(parseFlags({}));
  ASSERT_TRUE(toy && cpu);
  EXPECT_EQ(
      runtimeArchives({**toy, /*hasMesh=*/false}),
      (Names{"libWeftRuntimeMain.a", "libWeftRuntime.a", "libToy.a",
             "libWeftRuntimeCore.a", "libWeftFormats.a", "libWeftBase.a"}));
  EXPECT_EQ(
      runtimeArchives({**cpu, /*hasMesh=*/true}),
      (Names{"libWeftRuntimeMpi.a", "libWeftRuntime.a", "libWeftCpuKernels.a",
             "libWeftHostDevice.a", "libWeftRuntimeCore.a", "libWeftFormats.a",
             "libWeftBase.a"}));
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
            "expects the target toy, toy:fast or toy:apart, but got toy:slow");
  EXPECT_EQ(messageOf("--target=cpu:z80"),
            "expects the target cpu, cpu:x86-64-v2, cpu:x86-64-v3 or "
            "cpu:x86-64-v4, but got cpu:z80");
  EXPECT_EQ(messageOf("--target=tpu"),
            "expects the target cpu, cpu:x86-64-v2, cpu:x86-64-v3, "
            "cpu:x86-64-v4, cuda:sm_80, cuda:sm_90, cuda:sm_100, toy, "
            "toy:fast or toy:apart, but got tpu");
  EXPECT_EQ(messageOf("--target=cuda:sm_75"),
            "expects the target cuda:sm_80, cuda:sm_90 or cuda:sm_100, but got "
            "cuda:sm_75");
}

} // namespace
} // namespace weft
