//===- CheckFlags.cpp - Flags that mean nothing together ------------------===//

#include "weft/Pipeline/Options/CompileFlags.h"

#include "weft/Autodiff/RecomputeChoices.h"
#include "weft/Pipeline/Options/CudaModels.h"
#include "weft/Sharding/MeshSyntax.h"
#include "weft/Sharding/Units.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

static CastRecipe recipeOf(const FlagValues &flags) {
  return *symbolizeCastRecipe(flags.getText("recipe"));
}

std::string weft::lossScaleMode(const FlagValues &flags) {
  if (flags.isSet("loss-scale"))
    return flags.getText("loss-scale");
  if (flags.getText("precision") != "f16")
    return "none";
  return recipeOf(flags) == CastRecipe::PureF16 ? "512" : "dynamic";
}

static Error scalerError(const std::string &flag, const std::string &rule,
                         const std::string &value) {
  return usageError("expects --" + flag + " " + rule + ", but got " + value);
}

/// "scaler-min" for the number "minimum".
static std::string scalerFlag(llvm::StringRef number) {
  return "scaler-" + (number == "minimum" ? "min" : number.str());
}

std::vector<std::string> weft::scalerWords(const FlagValues &flags) {
  std::vector<std::string> words = {flags.getText("scaler")};
  for (const ScalerField &field : getScalerFields()) {
    std::string flag = scalerFlag(field.name);
    bool isSwitch = std::holds_alternative<bool ScalerNumbers::*>(field.member);
    if (isSwitch ? flags.getSwitch(flag) : flags.isSet(flag))
      words.push_back(field.name.str() + "=" +
                      (isSwitch ? "true" : flags.getText(flag)));
  }
  return words;
}

/// The numbers of a dynamic scale, by the rules of #weft.scaler.
static Status checkScalerNumbers(const FlagValues &flags) {
  ScalerNumbers numbers;
  std::optional<ScalerProblem> problem =
      parseScaler(scalerWords(flags), numbers);
  if (!problem)
    problem = findProblem(numbers);
  if (!problem)
    return Status::success();
  return scalerError(scalerFlag(problem->name), problem->rule, problem->value)
      .hint("--scaler=" + flags.getText("scaler"));
}

static Status checkScaler(const FlagValues &flags) {
  std::string mode = lossScaleMode(flags);
  double number = 1.0;
  bool fixed = mode != "dynamic" && mode != "none";
  if (fixed && llvm::StringRef(mode).getAsDouble(number))
    return usageError(
        "--loss-scale expects dynamic, none or a number, but got " +
        inQuotes(mode));
  if (fixed && !toLossScale(number))
    return scalerError("loss-scale", kScaleRule, mode);
  if (mode == "dynamic")
    return checkScalerNumbers(flags);
  for (const FlagSpec &spec : compileFlags()) {
    std::string name = spec.name;
    if (name.compare(0, 6, "scaler") == 0 && flags.isSet(name))
      return usageError("--" + name +
                        " expects --loss-scale=dynamic, but got " + mode);
  }
  return Status::success();
}

/// Rejects flags that have no meaning with the precision, or do not work with
/// it.
static Status checkPrecision(const FlagValues &flags) {
  const std::string &precision = flags.getText("precision");
  CastRecipe recipe = recipeOf(flags);
  if (recipe == CastRecipe::PureF16 && precision != "f16")
    return usageError("--recipe=pure-f16 expects --precision=f16, but got " +
                      precision);
  if (precision == "f32" && recipe != CastRecipe::Amp)
    return usageError("--recipe=" + flags.getText("recipe") +
                      " expects --precision=f16 or bf16, but got f32");
  if (precision == "f32" && flags.isSet("autocast-lists"))
    return usageError(
        "--autocast-lists expects --precision=f16 or bf16, but got f32");
  if (flags.getText("master-weights") == "off" && precision != "bf16")
    return usageError(
        "--master-weights=off expects --precision=bf16, but got " + precision);
  if (flags.getText("explain") == "precision" && precision == "f32")
    return usageError(
        "--explain=precision expects --precision=f16 or bf16, but got f32");
  return Status::success();
}

/// With --groups the optimizer is not checked: one of the groups may support
/// the flag.
static Status checkNesterov(const FlagValues &flags) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const OptimizerInfo *optimizer : getOptimizers())
    if (optimizer->hasFlag("nesterov"))
      names.push_back(optimizer->name);
  const std::string &chosen = flags.getText("optimizer");
  if (!flags.getSwitch("nesterov") || flags.isSet("groups") ||
      llvm::is_contained(names, chosen))
    return Status::success();
  return usageError("--nesterov expects --optimizer=" + spellChoices(names) +
                    ", but got " + chosen);
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

int64_t weft::meshRanks(const FlagValues &flags) {
  int64_t ranks = 1;
  if (std::optional<MeshText> mesh = parseMesh(flags.getText("mesh")))
    for (const MeshTextAxis &axis : *mesh)
      ranks *= axis.size;
  return ranks;
}

/// Rejects flags that have no meaning for one rank.
static Status checkNoMesh(const FlagValues &flags) {
  for (auto [flag, nothing] : {std::pair("zero", "0"),
                               {"reshard", "on"},
                               {"sync", "last"},
                               {"reduce-dtype", "auto"},
                               {"gather-dtype", "auto"},
                               {"shard-min", "0"},
                               {"prefetch", "1"},
                               {"comm-streams", "auto"},
                               {"reduction", "auto"},
                               {"prefetch-backward", ""},
                               {"prefetch-max", ""},
                               {"shard-rules", ""}})
    if (flags.getText(flag) != nothing)
      return usageError("--" + std::string(flag) + "=" + flags.getText(flag) +
                        " expects --mesh, but got none")
          .hint("such as --mesh=dp:4");
  for (const char *what : {"sharding", "schedule"})
    if (flags.getText("explain") == what)
      return usageError("--explain=" + std::string(what) +
                        " expects --mesh, but got none")
          .hint("such as --mesh=dp:4");
  return Status::success();
}

/// Checks --mesh and the flags that depend on it. The ZeRO stage decides what
/// the ranks of a mesh shard.
static Status checkMesh(const FlagValues &flags) {
  if (!flags.isSet("mesh"))
    return checkNoMesh(flags);
  const std::string &text = flags.getText("mesh");
  std::optional<MeshText> mesh = parseMesh(text);
  if (!mesh)
    return usageError("--mesh expects " + kMeshRule.str() + ", but got " +
                      inQuotes(text));
  const std::string &reshard = flags.getText("reshard");
  if (reshard != "on" && flags.getInt("zero") != 3)
    return usageError(
        "--reshard=" + reshard +
        " expects --zero=3, but got --zero=" + flags.getText("zero"));
  for (llvm::StringRef scope : llvm::split(reshard, ','))
    if (scope.empty())
      return usageError("--reshard expects on, off or module paths, but got " +
                        inQuotes(reshard));
  if (flags.getText("gather-dtype") != "auto" && flags.getInt("zero") == 0)
    return usageError("--gather-dtype=" + flags.getText("gather-dtype") +
                      " expects --zero=1 or more, but got --zero=0");
  for (auto [flag, isGiven] :
       {std::pair("--comm-streams", flags.getText("comm-streams") != "auto"),
        {"--prefetch-backward", flags.isSet("prefetch-backward")},
        {"--prefetch-max", flags.isSet("prefetch-max")},
        {"--explain=schedule", flags.getText("explain") == "schedule"}})
    if (isGiven && flags.getInt("prefetch") == 0)
      return usageError(std::string(flag) +
                        " expects a --prefetch of at least 1, but got 0")
          .hint("with 0, collectives have no separate stream");
  for (const char *other : {"prefetch", "prefetch-backward"})
    if (flags.isSet("prefetch-max") &&
        flags.getInt("prefetch-max") < flags.getInt(other))
      return usageError("expects --prefetch-max of at least --" +
                        std::string(other) + ", " + flags.getText(other) +
                        ", but got " + flags.getText("prefetch-max"));
  return Status::success();
}

static Status checkBucket(const FlagValues &flags) {
  const std::string &rule = flags.getText("bucket");
  if (flags.isSet("mesh") && rule == kNoBuckets)
    return usageError("--mesh expects a --bucket other than none, but got "
                      "none");
  if (!flags.isSet("bucket") || rule == kNoBuckets || parseUnitRule(rule))
    return Status::success();
  return usageError("--bucket expects none, " + kUnitRules.str() +
                    ", but got " + inQuotes(rule));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static Status checkForCuda(const FlagValues &flags, const std::string &flag) {
  const std::string &target = flags.getText("target");
  if (llvm::StringRef(target).split(':').first == "cuda")
    return Status::success();
  return usageError("--" + flag + "=" + flags.getText(flag) +
                    " expects --target=cuda:sm_80, cuda:sm_90 or "
                    "cuda:sm_100, but got " +
                    target);
}

/// CPU ranks have no communication library with native reductions.
static Status checkReduction(const FlagValues &flags) {
  if (flags.getText("reduction") != "native")
    return Status::success();
  return checkForCuda(flags, "reduction");
}

/// A build without cuDNN's headers has no routines that load cuDNN.
static Status checkCudnnRoutines(const std::string &flag) {
  if (hasCudnnRoutines())
    return Status::success();
  return usageError(flag + " expects a weft that was built with the headers of "
                           "cuDNN, but this one was not")
      .hint("get them with scripts/setup-cuda.sh --cudnn and build it again");
}

/// The CPU has one implementation.
static Status checkAttention(const FlagValues &flags) {
  const std::string &attention = flags.getText("attention");
  if (attention == "auto")
    return Status::success();
  if (Status status = checkForCuda(flags, "attention"); !status)
    return status;
  return attention == "cudnn" ? checkCudnnRoutines("--attention=cudnn")
                              : Status::success();
}

/// Routines of the CPU draw the numbers in both passes, and cuDNN has other
/// ones.
static Status checkDropoutBits(const FlagValues &flags) {
  if (flags.getText("dropout-bits") == "auto")
    return Status::success();
  if (Status status = checkForCuda(flags, "dropout-bits"); !status)
    return status;
  if (flags.getText("attention") != "cudnn")
    return Status::success();
  return usageError("--dropout-bits=" + flags.getText("dropout-bits") +
                    " expects --attention=auto or own, but got cudnn")
      .hint("leave it out: cuDNN computes no attention with dropout");
}

/// Only gradients that cuDNN computes can differ from run to run.
static Status checkDeterministic(const FlagValues &flags) {
  if (flags.getText("deterministic") == "on")
    return Status::success();
  if (Status status = checkForCuda(flags, "deterministic"); !status)
    return status.takeError().hint(
        "leave it out: programs for the CPU are deterministic");
  if (const std::string &attention = flags.getText("attention");
      attention == "own")
    return usageError("--deterministic=off expects --attention=auto or cudnn, "
                      "but got own")
        .hint("leave it out: own kernels are deterministic");
  return checkCudnnRoutines("--deterministic=off");
}

static Status checkRecompute(const FlagValues &flags) {
  const std::string &rule = flags.getText("recompute");
  if (parseRecomputeRule(rule))
    return Status::success();
  return usageError("--recompute expects none, blocks, every:N or bytes:N with "
                    "N of at least 1, but got " +
                    inQuotes(rule));
}

static Status checkLossChunks(const FlagValues &flags) {
  const std::string &text = flags.getText("loss-chunks");
  int32_t chunks = 0;
  if (text == "auto" || (!llvm::StringRef(text).getAsInteger(10, chunks) &&
                         chunks > 0 && text.front() != '0'))
    return Status::success();
  return usageError("--loss-chunks expects auto or a number of at least 1 "
                    "without leading zeros, but got " +
                    inQuotes(text));
}

/// Whether the flag was given with another value than its default.
static bool isChanged(const FlagValues &flags, const FlagSpec &spec) {
  return flags.isSet(spec.name) &&
         (spec.kind == FlagKind::Switch
              ? flags.getSwitch(spec.name)
              : flags.getText(spec.name) != std::string(spec.defaultText));
}

/// Rejects flags of training for a program without it.
static Status checkInference(const FlagValues &flags) {
  if (!flags.getSwitch("inference"))
    return Status::success();
  for (const FlagSpec &spec : compileFlags()) {
    if (!onlyTrains(spec.name) || !isChanged(flags, spec))
      continue;
    const std::string value =
        spec.kind == FlagKind::Switch ? "" : "=" + flags.getText(spec.name);
    return usageError("--" + std::string(spec.name) + value +
                      " expects a program that trains, but got --inference")
        .hint("leave it out: without training it has no effect; weft generate, "
              "evaluate and predict imply --inference");
  }
  return Status::success();
}

Status weft::checkOptions(const FlagValues &flags) {
  if (Status status = checkInference(flags); !status)
    return status;
  if (Status status = checkMesh(flags); !status)
    return status;
  if (Status status = checkRecompute(flags); !status)
    return status;
  if (Status status = checkLossChunks(flags); !status)
    return status;
  if (flags.getSwitch("debug-nan") && flags.getText("explain") == "fusion")
    return usageError("--explain=fusion has nothing to say with --debug-nan, "
                      "which fuses nothing but updates");
  if (Status status = checkPrecision(flags); !status)
    return status;
  if (Status status = checkScaler(flags); !status)
    return status;
  if (Status status = checkNesterov(flags); !status)
    return status;
  if (Status status = checkBucket(flags); !status)
    return status;
  if (Status status = checkReduction(flags); !status)
    return status;
  if (Status status = checkAttention(flags); !status)
    return status;
  if (Status status = checkDropoutBits(flags); !status)
    return status;
  return checkDeterministic(flags);
}
