//===- PhasePasses.cpp - Passes that targets share ------------------------===//

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

static void inferShapes(const FlagValues &, const Target &,
                        OpPassManager &passes) {
  passes.addPass(createInferShapesPass());
}

static void applyGroups(const FlagValues &flags, const Target &,
                        OpPassManager &passes) {
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
    options.recipe = *symbolizeCastRecipe(flags.getText("recipe"));
    options.overrides = flags.getText("autocast-lists");
  }
  passes.addPass(createAutocastPass(options));
}

static void derivePrograms(const FlagValues &flags, const Target &,
                           OpPassManager &passes) {
  passes.addPass(
      createDerivePredictionPass({/*wanted=*/flags.getSwitch("predict")}));
  passes.addPass(createDeriveProgramsPass());
  const std::string &cache = flags.getText("kv-cache");
  if (cache != "off")
    passes.addPass(createDeriveDecodingPass({/*optional=*/cache == "auto"}));
}

static bool recomputes(const FlagValues &flags) {
  return flags.getText("recompute") != "none";
}

bool weft::storesDropoutBits(const FlagValues &flags, const Target &target) {
  return target.mayStoreDropoutBits(flags) &&
         flags.getText("dropout-bits") != "draw";
}

/// A model may have marks of its own, which a target may add to. Bits come
/// first: they are values that can be recomputed.
static void markRecompute(const FlagValues &flags, const Target &target,
                          OpPassManager &passes) {
  if (target.mayStoreDropoutBits(flags))
    passes.addPass(
        createStoreDropoutBitsPass({storesDropoutBits(flags, target)}));
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
  if (flags.getText("grad-dtype") == "torch")
    options.gradDtype = GradDtype::Torch;
  if (flags.getText("accumulation") == "off")
    options.accumulation = AccumulationMode::Off;
  passes.addPass(createAutodiffPass(options));
  OpPassManager &programs = passes.nest<ProgramOp>();
  // Top down, as the pass does by itself, unlike a configuration by itself.
  programs.addPass(createCanonicalizerPass(
      GreedyRewriteConfig()
          .setUseTopDownTraversal()
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)));
  programs.addPass(createCSEPass());
  // A model may have marks of its own.
  programs.addPass(createRecomputePass());
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
  if (flags.getSwitch("inference"))
    passes.addPass(createDropTrainingPass());
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
  if (areWhole)
    options.gradients = dist::Placement::Replicated;
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
  if (flags.getText("sync") == "each")
    options.sync = Sync::Each;
  options.reduceDtype = flags.getText("reduce-dtype");
  options.gatherDtype = flags.getText("gather-dtype");
  passes.addPass(createPartitionPass(options));
}

static void selectKernels(const FlagValues &flags, const Target &target,
                          OpPassManager &passes) {
  passes.addPass(createFoldCastsPass());
  // A limit that needs more than one has chosen a number.
  if (const std::string &chunks = flags.getText("loss-chunks");
      chunks != "auto" && chunks != "1") {
    ChunkLossesPassOptions loss;
    loss.chunks = std::stoll(chunks);
    passes.addPass(createChunkLossesPass(loss));
  }
  SelectKernelsPassOptions options;
  options.library = target.getKernelLibrary().str();
  options.epilogues = flags.getText("epilogues") == "on";
  options.fast =
      target.joinsAcrossRoundings() && flags.getText("numerics") == "fast";
  passes.addPass(createSelectKernelsPass(options));
}

static void decompose(const FlagValues &, const Target &,
                      OpPassManager &passes) {
  OpPassManager &programs = passes.nest<ProgramOp>();
  programs.addPass(createDecomposePass());
  programs.addPass(createMarkApproximatePass());
}

static void fuse(const FlagValues &flags, const Target &target,
                 OpPassManager &passes) {
  FusePassOptions options;
  // A kernel of its own for each op: the first bad value then names the op.
  options.apart = flags.getSwitch("debug-nan");
  options.widenInReaders = target.widensInReaders() && !options.apart;
  options.sumsInRows = target.addsRowsInKernels() && !options.apart;
  passes.addPass(createFusePass(options));
}

static void lowerToPlan(const FlagValues &flags, const Target &target,
                        OpPassManager &passes) {
  passes.addPass(createLowerToPlanPass());
  if (!flags.isSet("mesh") || !target.hasNativeReductions())
    return;
  ChooseReductionsPassOptions options;
  const std::string &reduction = flags.getText("reduction");
  options.reduction = reduction == "native"    ? Reduction::Native
                      : reduction == "ordered" ? Reduction::Ordered
                                               : Reduction::Auto;
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

/// Whether collectives overlap with computation.
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
  passes.addPass(createSchedulePass(options));
}

static void schedule(const FlagValues &flags, const Target &target,
                     OpPassManager &passes) {
  splitAsync(flags, target, passes);
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
// By phase
//===----------------------------------------------------------------------===//

void weft::addCommonPasses(Phase phase, const FlagValues &flags,
                           const Target &target, OpPassManager &passes) {
  switch (phase) {
  case Phase::TieParams:
    return tieParams(flags, target, passes);
  case Phase::InferShapes:
    return inferShapes(flags, target, passes);
  case Phase::ApplyGroups:
    return applyGroups(flags, target, passes);
  case Phase::Autocast:
    return autocast(flags, target, passes);
  case Phase::DerivePrograms:
    return derivePrograms(flags, target, passes);
  case Phase::MarkRecompute:
    return markRecompute(flags, target, passes);
  case Phase::Autodiff:
    return autodiff(flags, target, passes);
  case Phase::LossScale:
    return lossScale(flags, target, passes);
  case Phase::ExpandOptimizer:
    return expandOptimizer(flags, target, passes);
  case Phase::WorkingCopies:
    return workingCopies(flags, target, passes);
  case Phase::Shard:
    return shard(flags, target, passes);
  case Phase::Bucket:
    return bucket(flags, target, passes);
  case Phase::Partition:
    return partition(flags, target, passes);
  case Phase::SelectKernels:
    return selectKernels(flags, target, passes);
  case Phase::Decompose:
    return decompose(flags, target, passes);
  case Phase::Fuse:
    return fuse(flags, target, passes);
  case Phase::LowerToPlan:
    return lowerToPlan(flags, target, passes);
  case Phase::Estimate:
    return estimate(flags, target, passes);
  case Phase::Schedule:
    return schedule(flags, target, passes);
  case Phase::PlanMemory:
    return planMemory(flags, target, passes);
  case Phase::VerifyPlan:
    return verifyPlan(flags, target, passes);
  // Without passes that targets share.
  case Phase::Import:
  case Phase::Verify:
  case Phase::AlignProducts:
  case Phase::GroupLaunches:
  case Phase::AssignStreams:
  case Phase::LowerToTarget:
  case Phase::Emit:
    return;
  }
}
