//===- Phases.cpp - The phase table ---------------------------------------===//

#include "weft/Pipeline/Phases.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Frontend/Passes.h"
#include "weft/Kernels/Passes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Lowering/Plan/Passes.h"
#include "weft/Memory/Passes.h"
#include "weft/Pipeline/CompileFlags.h"
#include "weft/Pipeline/Passes.h"
#include "weft/Precision/Passes.h"
#include "weft/Schedule/Passes.h"
#include "weft/Training/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Passes of each phase: options that no flag sets keep the default of the .td
//===----------------------------------------------------------------------===//

static void tieParams(const FlagValues &, OpPassManager &passes) {
  passes.addPass(createTieParamsPass());
}

static void inferShapes(const FlagValues &flags, OpPassManager &passes) {
  passes.addPass(createInferShapesPass());
  if (!flags.isSet("groups"))
    return;
  ApplyGroupsPassOptions options;
  options.groups = flags.getText("groups");
  passes.addPass(createApplyGroupsPass(options));
}

/// Runs in f32 as well: it resolves autocast regions and dtypes.
static void autocast(const FlagValues &flags, OpPassManager &passes) {
  AutocastPassOptions options;
  if (flags.getText("precision") != "f32") {
    options.dtype = flags.getText("precision");
    options.recipe = flags.getText("recipe");
    options.overrides = flags.getText("autocast-lists");
    options.table = flags.getText("explain") == "precision";
  }
  passes.addPass(createAutocastPass(options));
}

static void derivePrograms(const FlagValues &, OpPassManager &passes) {
  passes.addPass(createDeriveProgramsPass());
}

static void autodiff(const FlagValues &flags, OpPassManager &passes) {
  AutodiffPassOptions options;
  options.gradDtype = flags.getText("grad-dtype");
  options.accumulation = flags.getText("accumulation");
  passes.addPass(createAutodiffPass(options));
  OpPassManager &programs = passes.nest<ProgramOp>();
  // Top down, as the pass does by itself, unlike a configuration by itself.
  programs.addPass(createCanonicalizerPass(
      GreedyRewriteConfig()
          .setUseTopDownTraversal()
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)));
  programs.addPass(createCSEPass());
}

static void lossScale(const FlagValues &flags, OpPassManager &passes) {
  LossScalePassOptions options;
  options.mode = lossScaleMode(flags);
  if (options.mode == "none")
    return;
  std::vector<std::string> words = scalerWords(flags);
  if (flags.isSet("scaler") || words.size() > 1)
    options.scaler.assign(words.begin(), words.end());
  passes.addPass(createLossScalePass(options));
}

static void expandOptimizer(const FlagValues &flags, OpPassManager &passes) {
  ExpandOptimizerPassOptions options;
  options.optimizer = flags.getText("optimizer");
  options.clipNorm = flags.getText("clip-norm");
  options.nesterov = flags.getSwitch("nesterov");
  passes.addPass(createExpandOptimizerPass(options));
}

/// Runs in f32 as well: a region of the model may ask for a low type.
static void workingCopies(const FlagValues &flags, OpPassManager &passes) {
  WorkingCopiesPassOptions options;
  options.persistent = flags.getText("working-copies") == "on";
  options.master = flags.getText("master-weights") == "on";
  passes.addPass(createWorkingCopiesPass(options));
}

static void fuse(const FlagValues &flags, OpPassManager &passes) {
  FusePassOptions options;
  // A kernel of its own for each op: the first bad value then names the op.
  options.apart = flags.getSwitch("debug-nan");
  options.explain = flags.getText("explain") == "fusion";
  passes.addPass(createFoldCastsPass());
  passes.addPass(createFusePass(options));
}

static void selectKernels(const FlagValues &, OpPassManager &passes) {
  passes.addPass(createSelectKernelsPass());
}

static void lowerToPlan(const FlagValues &, OpPassManager &passes) {
  passes.addPass(createLowerToPlanPass());
}

static void estimate(const FlagValues &flags, OpPassManager &passes) {
  EstimatePassOptions options;
  options.costTable = flags.getText("cost-table");
  passes.addPass(createEstimatePass(options));
}

static void planMemory(const FlagValues &flags, OpPassManager &passes) {
  MeasureScratchPassOptions options;
  if (flags.isSet("threads-max"))
    options.threads = flags.getInt("threads-max");
  passes.addPass(createMeasureScratchPass(options));
  passes.addPass(createPlanMemoryPass());
}

static void verifyPlan(const FlagValues &, OpPassManager &passes) {
  passes.addPass(createVerifyPlanPass());
}

static void lowerToCpu(const FlagValues &flags, OpPassManager &passes) {
  passes.addPass(createDescribeExecutablePass());
  ConvertKernelsToLinalgPassOptions kernels;
  kernels.fast = flags.getText("numerics") == "fast";
  passes.addPass(createConvertKernelsToLinalgPass(kernels));
  LowerToCpuPassOptions options;
  Expected<CpuTarget> target = cpuTargetOf(flags);
  options.fma = !target || target->hasFma();
  passes.addPass(createLowerToCpuPass(options));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Phase> weft::phases() {
  static const Phase table[] = {
      {"import", "the model as weft ops; every op has a location", Level::Graph,
       nullptr},
      {"verify", "exactly one model program with a scalar loss", Level::Graph,
       nullptr},
      {"tie-params", "no parameter is tied: uses read the one it was tied to",
       Level::Graph, tieParams},
      {"infer-shapes", "every shape is static; parameter groups are applied",
       Level::Graph, inferShapes},
      {"autocast",
       "casts as the precision asks (f32: none); no autocast region is left",
       Level::Graph, autocast},
      {"derive-programs", "micro, eval, init (and logits) replace the model",
       Level::Graph, derivePrograms},
      {"mark-recompute", "what the backward pass computes again is marked",
       Level::Graph, nullptr},
      {"autodiff",
       "micro adds the gradient of each trainable parameter to its "
       "gradient state",
       Level::Graph, autodiff},
      {"loss-scale", "the loss gradient carries the scale, if there is one",
       Level::Graph, lossScale},
      {"expand-optimizer",
       "apply checks, clips and updates; optimizer state "
       "exists",
       Level::Graph, expandOptimizer},
      {"working-copies", "low-precision copies of weights (f32: none)",
       Level::Graph, workingCopies},
      {"shard", "layouts of parameters and state (one rank: whole)",
       Level::Dist, nullptr},
      {"bucket", "tensors that travel together (one rank: none)", Level::Dist,
       nullptr},
      {"partition", "collectives are explicit (one rank: none)", Level::Dist,
       nullptr},
      {"fuse", "elementwise, reduction and shape chains are outlined kernels",
       Level::Dist, fuse},
      {"select-kernels", "every op names its implementation", Level::Dist,
       selectKernels},
      {"lower-to-plan", "programs are straight lines of commands on buffers",
       Level::Plan, lowerToPlan},
      {"estimate", "every command has an estimated time", Level::Plan,
       estimate},
      {"split-async", "collectives are start and wait (one rank: none)",
       Level::Plan, nullptr},
      {"schedule", "order of collectives and copies (one rank: as is)",
       Level::Plan, nullptr},
      {"assign-streams", "stream of each command (cpu: one)", Level::Plan,
       nullptr},
      {"plan-memory", "every buffer has its offset in one arena", Level::Plan,
       planMemory},
      {"verify-plan", "buffers that live at once share no byte", Level::Plan,
       verifyPlan},
      {"lower-to-cpu", "kernels are LLVM functions over a range", Level::Llvm,
       lowerToCpu},
      {"emit", "an object file linked with the runtime", Level::Output,
       nullptr},
  };
  return table;
}

int weft::findPhase(llvm::StringRef name) {
  llvm::ArrayRef<Phase> all = phases();
  for (size_t i = 0; i < all.size(); ++i)
    if (name == all[i].name)
      return static_cast<int>(i);
  return -1;
}

//===----------------------------------------------------------------------===//
// The passes as text
//===----------------------------------------------------------------------===//

static std::string printPipeline(const OpPassManager &passes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Without a pass, the pretty form does not parse.
  passes.printAsTextualPipeline(stream, /*pretty=*/!passes.empty());
  return llvm::StringRef(text).rtrim().str();
}

/// MLIR's text of options knows no escapes, so that a path with blanks behind a
/// quote, or with a single brace, would be read as something else.
static Status checkReadsBack(const std::string &text, const FlagValues &flags) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  FailureOr<OpPassManager> parsed = parsePassPipeline(text, stream);
  if (succeeded(parsed) && printPipeline(*parsed) == text)
    return Status::success();
  std::vector<std::string> paths;
  for (const FileUse &file : flags.files(FlagFile::Read))
    paths.push_back(file.path);
  return usageError("expects paths that the text of a pipeline can hold, but "
                    "got " +
                    llvm::join(paths, " and "))
      .hint("it holds paths without quotes and braces");
}

Expected<std::string> weft::pipelineText(const FlagValues &flags, int from,
                                         int to) {
  OpPassManager passes(ModuleOp::getOperationName());
  for (int i = from + 1; i <= to; ++i)
    if (phases()[i].addPasses)
      phases()[i].addPasses(flags, passes);
  std::string text = printPipeline(passes);
  if (Status status = checkReadsBack(text, flags); !status)
    return status.takeError();
  return text;
}

std::string weft::phasesMarkdown() {
  std::string text = "| phase | what holds after it |\n|---|---|\n";
  for (const Phase &phase : phases())
    text += std::string("| `") + phase.name + "` | " + phase.contract + " |\n";
  return text;
}

std::string weft::dumpFileName(int index) {
  char number[16];
  std::snprintf(number, sizeof number, "%02d-", index);
  return std::string(number) + phases()[index].name + ".mlir";
}
