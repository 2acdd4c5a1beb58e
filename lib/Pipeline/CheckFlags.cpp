//===- CheckFlags.cpp - Flags that mean nothing, or not yet ---------------===//

#include "weft/Pipeline/CompileFlags.h"

#include "weft/Weft/ScalerNumbers.h"

using namespace weft;

//===----------------------------------------------------------------------===//
// What is not built yet
//===----------------------------------------------------------------------===//

namespace {
/// The only value that a flag takes today.
struct OnlyValue {
  const char *flag;
  const char *value;
};
} // namespace

static const OnlyValue kOnlyValues[] = {
    {"mesh", ""},
    {"zero", "0"},
    {"sync", "last"},
    {"bucket", "scope"},
    {"prefetch", "1"},
    {"reshard", "on"},
    {"reduce-dtype", "f32"},
    {"gather-dtype", "f32"},
    {"recompute", "none"},
};

static Status checkOnlyValues(const FlagValues &flags) {
  for (const OnlyValue &only : kOnlyValues)
    if (flags.isSet(only.flag) && flags.getText(only.flag) != only.value) {
      Error error = usageError("does not support --" + std::string(only.flag) +
                               "=" + flags.getText(only.flag) + " yet");
      if (*only.value)
        error.hint("only --" + std::string(only.flag) + "=" + only.value +
                   " works today");
      else
        error.hint("leave --" + std::string(only.flag) + " out");
      return error;
    }
  return Status::success();
}

/// Paths become options of passes; MLIR's text of these knows no escapes.
static Status checkPaths(const FlagValues &flags) {
  for (std::string flag : {"groups", "autocast-lists", "cost-table"}) {
    const std::string &path = flags.getText(flag);
    bool bothQuotes = path.find('\'') != std::string::npos &&
                      path.find('"') != std::string::npos;
    if (bothQuotes || path.find_first_of("{}") != std::string::npos)
      return usageError("--" + flag +
                        " expects a path without braces and with "
                        "at most one kind of quotes, but got " +
                        path);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

std::string weft::lossScaleMode(const FlagValues &flags) {
  if (flags.isSet("loss-scale"))
    return flags.getText("loss-scale");
  if (flags.getText("precision") != "f16")
    return "none";
  return flags.getText("recipe") == "pure-f16" ? "512" : "dynamic";
}

static Error scalerError(const std::string &flag, const std::string &rule,
                         const std::string &value) {
  return usageError("expects --" + flag + " " + rule + ", but got " + value);
}

/// The numbers of a dynamic scale, by the rules of weft-loss-scale.
static Status checkScalerNumbers(const FlagValues &flags) {
  std::optional<ScalerPolicy> policy =
      symbolizeScalerPolicy(flags.getText("scaler"));
  ScalerNumbers numbers = ScalerNumbers::getDefaults(*policy);
  for (auto [flag, number] :
       {std::pair<const char *, double *>{"scaler-init", &numbers.init},
        {"scaler-growth", &numbers.growth},
        {"scaler-backoff", &numbers.backoff},
        {"scaler-min", &numbers.minimum}})
    if (flags.isSet(flag))
      *number = flags.getDouble(flag);
  for (auto [flag, number] : {std::pair<const char *, int64_t *>{
                                  "scaler-interval", &numbers.interval},
                              {"scaler-hysteresis", &numbers.hysteresis}})
    if (flags.isSet(flag))
      *number = flags.getInt(flag);
  numbers.consecutive = flags.getSwitch("scaler-consecutive");
  std::optional<ScalerProblem> problem = findProblem(numbers);
  if (!problem)
    return Status::success();
  std::string name = problem->name == "minimum" ? "min" : problem->name;
  return scalerError("scaler-" + name, problem->rule, problem->value)
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

/// Flags that mean nothing, or nothing that works, with that precision.
static Status checkPrecision(const FlagValues &flags) {
  const std::string &precision = flags.getText("precision");
  const std::string &recipe = flags.getText("recipe");
  if (recipe == "pure-f16" && precision != "f16")
    return usageError("--recipe=pure-f16 expects --precision=f16, but got " +
                      precision);
  if (precision == "f32" && recipe != "amp")
    return usageError("--recipe=" + recipe +
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
  if (flags.getText("explain") == "schedule")
    return usageError("does not support --explain=schedule yet")
        .hint("--explain=precision and --explain=fusion work today");
  return Status::success();
}

Status weft::checkSupported(const FlagValues &flags) {
  if (Status status = checkOnlyValues(flags); !status)
    return status;
  if (Status status = checkPaths(flags); !status)
    return status;
  if (flags.getSwitch("debug-nan") && flags.getText("explain") == "fusion")
    return usageError("--explain=fusion has nothing to say with --debug-nan, "
                      "which fuses nothing");
  if (Status status = checkPrecision(flags); !status)
    return status;
  if (Status status = checkScaler(flags); !status)
    return status;
  if (flags.getSwitch("nesterov") && flags.getText("optimizer") != "sgd" &&
      !flags.isSet("groups"))
    return usageError("--nesterov expects --optimizer=sgd, but got " +
                      flags.getText("optimizer"));
  const std::string &emit = flags.getText("emit");
  if (emit == "ptx" || emit == "timeline")
    return usageError("does not support --emit=" + emit + " yet");
  if (flags.getText("target").rfind("cuda", 0) == 0)
    return usageError("does not support --target=" + flags.getText("target") +
                      " yet")
        .hint("use --target=cpu");
  return Status::success();
}
