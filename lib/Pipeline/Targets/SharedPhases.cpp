//===- SharedPhases.cpp - Phases of every target --------------------------===//

#include "weft/Pipeline/Targets/SharedPhases.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Frontend/Passes.h"
#include "weft/Fusion/Passes.h"
#include "weft/Lowering/Plan/Passes.h"
#include "weft/Memory/Passes.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Precision/Passes.h"
#include "weft/Schedule/Passes.h"
#include "weft/Sharding/Passes.h"
#include "weft/Training/Passes.h"
#include "weft/Verify/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Passes of each phase: options that no flag sets keep the default of the .td
//===----------------------------------------------------------------------===//

static void tieParams(const FlagValues &, const Target &,
                      OpPassManager &passes) {
  passes.addPass(createTieParamsPass());
}

static void inferShapes(const FlagValues &flags, const Target &,
                        OpPassManager &passes) {
  passes.addPass(createInferShapesPass());
  if (!flags.isSet("groups"))
    return;
  ApplyGroupsPassOptions options;
  options.groups = flags.getText("groups");
  options.optimizer = flags.getText("optimizer");
  passes.addPass(createApplyGroupsPass(options));
}

/// Runs in f32 as well: it resolves regions and dtypes.
static void autocast(const FlagValues &flags, const Target &,
                     OpPassManager &passes) {
  passes.addPass(createInlineRecomputePass());
  AutocastPassOptions options;
  if (flags.getText("precision") != "f32") {
    options.dtype = flags.getText("precision");
    options.recipe = flags.getText("recipe");
    options.overrides = flags.getText("autocast-lists");
    options.table = flags.getText("explain") == "precision";
  }
  passes.addPass(createAutocastPass(options));
}

static void derivePrograms(const FlagValues &, const Target &,
                           OpPassManager &passes) {
  passes.addPass(createDeriveProgramsPass());
}

static bool recomputes(const FlagValues &flags) {
  return flags.getText("recompute") != "none";
}

/// A model may have marks of its own, which a target may add to.
static void markRecompute(const FlagValues &flags, const Target &target,
                          OpPassManager &passes) {
  const bool joinsGelu = target.hasGeluOfProducts(flags);
  if (!recomputes(flags) && !joinsGelu)
    return;
  MarkRecomputePassOptions options;
  options.rule = flags.getText("recompute");
  options.geluWithProduct = joinsGelu;
  passes.addPass(createMarkRecomputePass(options));
}

static void autodiff(const FlagValues &flags, const Target &,
                     OpPassManager &passes) {
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
  // A model may have marks of its own.
  passes.addPass(createRemoveFencesPass());
}

static void lossScale(const FlagValues &flags, const Target &,
                      OpPassManager &passes) {
  LossScalePassOptions options;
  options.mode = lossScaleMode(flags);
  if (options.mode == "none")
    return;
  std::vector<std::string> words = scalerWords(flags);
  if (flags.isSet("scaler") || words.size() > 1)
    options.scaler.assign(words.begin(), words.end());
  passes.addPass(createLossScalePass(options));
}

static void expandOptimizer(const FlagValues &flags, const Target &,
                            OpPassManager &passes) {
  ExpandOptimizerPassOptions options;
  options.optimizer = flags.getText("optimizer");
  options.clipNorm = flags.getText("clip-norm");
  options.nesterov = flags.getSwitch("nesterov");
  passes.addPass(createExpandOptimizerPass(options));
}

/// Runs in f32 as well: a region of the model may ask for a low type.
static void workingCopies(const FlagValues &flags, const Target &,
                          OpPassManager &passes) {
  WorkingCopiesPassOptions options;
  options.persistent = flags.getText("working-copies") == "on";
  options.master = flags.getText("master-weights") == "on";
  passes.addPass(createWorkingCopiesPass(options));
}

static void shard(const FlagValues &flags, const Target &,
                  OpPassManager &passes) {
  if (!flags.isSet("mesh"))
    return;
  ShardPassOptions options;
  options.mesh = flags.getText("mesh");
  options.zero = flags.getInt("zero");
  // The only micro-step of a step may leave gradients to the update: they are
  // as large as without a mesh in the stages that say so.
  const bool areWhole = flags.getText("accumulation") == "off" &&
                        flags.getText("sync") == "last" &&
                        flags.getInt("zero") < 2;
  options.gradients = areWhole ? "replicated" : "sharded";
  options.min = flags.getInt("shard-min");
  options.rules = flags.getText("shard-rules");
  passes.addPass(createShardPass(options));
}

static void bucket(const FlagValues &flags, const Target &target,
                   OpPassManager &passes) {
  BucketPassOptions options;
  options.rule = bucketRule(flags, target);
  if (options.rule == kNoBuckets)
    return;
  options.align = flags.getInt("shard-align");
  options.explain = flags.getText("explain") == "sharding";
  passes.addPass(createBucketPass(options));
}

static void partition(const FlagValues &flags, const Target &,
                      OpPassManager &passes) {
  if (!flags.isSet("mesh"))
    return;
  PartitionPassOptions options;
  const std::string &reshard = flags.getText("reshard");
  options.reshard = flags.getInt("zero") == 3 && reshard != "off";
  if (options.reshard && reshard != "on")
    for (llvm::StringRef scope : llvm::split(reshard, ','))
      options.reshardScopes.push_back(scope.str());
  options.accumulates = flags.getText("accumulation") == "on";
  options.sync = flags.getText("sync");
  options.reduceDtype = flags.getText("reduce-dtype");
  options.gatherDtype = flags.getText("gather-dtype");
  passes.addPass(createPartitionPass(options));
}

static void selectKernels(const FlagValues &flags, const Target &target,
                          OpPassManager &passes) {
  passes.addPass(createFoldCastsPass());
  SelectKernelsPassOptions options;
  options.library = target.getKernelLibrary().str();
  options.epilogues = flags.getText("epilogues") == "on";
  options.fast =
      target.joinsAcrossRoundings() && flags.getText("numerics") == "fast";
  options.explain = flags.getText("explain") == "fusion";
  passes.addPass(createSelectKernelsPass(options));
}

static void fuse(const FlagValues &flags, const Target &,
                 OpPassManager &passes) {
  FusePassOptions options;
  // A kernel of its own for each op: the first bad value then names the op.
  options.apart = flags.getSwitch("debug-nan");
  options.explain = flags.getText("explain") == "fusion";
  passes.addPass(createFusePass(options));
}

static void lowerToPlan(const FlagValues &flags, const Target &target,
                        OpPassManager &passes) {
  passes.addPass(createLowerToPlanPass());
  if (!flags.isSet("mesh") || !target.hasNativeReductions())
    return;
  ChooseReductionsPassOptions options;
  options.reduction = flags.getText("reduction");
  options.cluster = flags.getText("cluster");
  passes.addPass(createChooseReductionsPass(options));
}

static void estimate(const FlagValues &flags, const Target &target,
                     OpPassManager &passes) {
  EstimatePassOptions options;
  options.costTable = flags.getText("cost-table");
  options.cluster = flags.getText("cluster");
  options.rates = target.getRates().str();
  passes.addPass(createEstimatePass(options));
}

/// Whether collectives run beside what computes.
static bool overlaps(const FlagValues &flags) {
  return flags.isSet("mesh") && flags.getInt("prefetch") > 0;
}

static void splitAsync(const FlagValues &flags, const Target &target,
                       OpPassManager &passes) {
  if (!overlaps(flags))
    return;
  SplitAsyncPassOptions options;
  const std::string &streams = flags.getText("comm-streams");
  options.shareStream =
      streams == "1" || (streams == "auto" && target.sharesCommStream());
  passes.addPass(createSplitAsyncPass(options));
}

static void markBesideCollectives(const FlagValues &flags, const Target &target,
                                  OpPassManager &passes) {
  if (!flags.isSet("mesh") || target.getCollectiveCtas() == 0)
    return;
  MarkBesideCollectivesPassOptions options;
  options.ctas = target.getCollectiveCtas();
  passes.addPass(createMarkBesideCollectivesPass(options));
}

static void orderCollectives(const FlagValues &flags, const Target &target,
                             OpPassManager &passes) {
  if (!overlaps(flags))
    return;
  SchedulePassOptions options;
  options.prefetch = flags.getInt("prefetch");
  options.prefetchBackward = flags.getInt("prefetch-backward", -1);
  options.prefetchMax = flags.getInt("prefetch-max", 0);
  options.inTurn = target.runsCollectivesInTurn();
  options.explain = flags.getText("explain") == "schedule";
  passes.addPass(createSchedulePass(options));
}

static void schedule(const FlagValues &flags, const Target &target,
                     OpPassManager &passes) {
  orderCollectives(flags, target, passes);
  markBesideCollectives(flags, target, passes);
}

static void planMemory(const FlagValues &, const Target &target,
                       OpPassManager &passes) {
  PlanMemoryPassOptions options;
  options.alignment = target.getAlignment();
  passes.addPass(createPlanMemoryPass(options));
}

static void verifyPlan(const FlagValues &, const Target &,
                       OpPassManager &passes) {
  passes.addPass(createVerifyPlanPass());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

ArrayRef<SharedPhase> weft::sharedPhases() {
  static const SharedPhase table[] = {
      {{"import", "the model as weft ops; every op has a location",
        Level::Graph},
       nullptr},
      {{"verify", "exactly one model program with a scalar loss", Level::Graph},
       nullptr},
      {{"tie-params", "no parameter is tied: uses read the one it was tied to",
        Level::Graph},
       tieParams},
      {{"infer-shapes", "every shape is static; parameter groups are applied",
        Level::Graph},
       inferShapes},
      {{"autocast",
        "casts as the precision asks (f32: none); no region is left",
        Level::Graph},
       autocast},
      {{"derive-programs", "micro, eval, init (and logits) replace the model",
        Level::Graph},
       derivePrograms},
      {{"mark-recompute",
        "what the backward pass computes again is marked (--recompute=none: "
        "what stood in regions)",
        Level::Graph},
       markRecompute},
      {{"autodiff",
        "micro adds the gradient of each trainable parameter to its "
        "gradient state",
        Level::Graph},
       autodiff},
      {{"loss-scale", "the loss gradient carries the scale, if there is one",
        Level::Graph},
       lossScale},
      {{"expand-optimizer",
        "apply checks, clips and updates; optimizer state "
        "exists",
        Level::Graph},
       expandOptimizer},
      {{"working-copies", "low-precision copies of weights (f32: none)",
        Level::Graph},
       workingCopies},
      {{"shard", "layouts of parameters and state (without --mesh: none)",
        Level::Dist},
       shard},
      {{"bucket",
        "parameters of a unit that are updated alike lie in one flat state "
        "(--bucket=none: each in its own)",
        Level::Dist},
       bucket},
      {{"partition", "collectives are explicit (without --mesh: none)",
        Level::Dist},
       partition},
      {{"select-kernels", "what the target's library runs is claimed for it",
        Level::Dist},
       selectKernels},
      {{"fuse", "all else is outlined kernels, views and copies", Level::Dist},
       fuse},
      {{"lower-to-plan", "programs are straight lines of commands on buffers",
        Level::Plan},
       lowerToPlan},
      {{"estimate", "every command has an estimated time", Level::Plan},
       estimate},
      {{"split-async",
        "collectives are start and wait (one rank, --prefetch=0: as is)",
        Level::Plan},
       splitAsync},
      {{"schedule",
        "collectives run beside what computes (one rank, --prefetch=0: as is)",
        Level::Plan},
       schedule},
      {{"assign-streams",
        "stream of each command, copies and events (one queue: as is)",
        Level::Plan},
       nullptr},
      {{"plan-memory", "every buffer has its offset in one arena", Level::Plan},
       planMemory},
      {{"verify-plan", "buffers that live at once share no byte", Level::Plan},
       verifyPlan},
      {{"emit", "an object file linked with the runtime", Level::Output},
       nullptr},
  };
  return table;
}
