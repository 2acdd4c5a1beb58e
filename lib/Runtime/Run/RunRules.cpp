//===- RunRules.cpp - Rules between the flags of a run --------------------===//

#include "RunRules.h"

#include "weft/Base/OutputFolder.h"
#include "weft/Base/Results.h"
#include "weft/Base/Text.h"

#include <charconv>

using namespace weft;

std::vector<int32_t> weft::parseTokenIds(const std::string &text) {
  std::vector<int32_t> ids;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    int32_t id = -1;
    const auto read = std::from_chars(at, end, id);
    if (read.ec != std::errc() || id < 0 ||
        (read.ptr != end && *read.ptr != ','))
      return {};
    ids.push_back(id);
    if (read.ptr == end)
      return ids;
    at = read.ptr + 1;
  }
}

/// Flags that were given and would do nothing without another one. One that the
/// checkpoint kept may have lost its effect to a flag that was given.
static Status checkEffects(const FlagValues &flags, const RunOptions &out,
                           bool keptKnown) {
  bool validates = !keptKnown || !out.valData.empty() || out.valFraction > 0;
  bool saves = !keptKnown || !out.saveDir.empty();
  bool decays = !keptKnown || out.schedule.kind != RateScheduleKind::Constant;
  bool samples = out.generate.has_value();
  bool samplesText = samples && !out.generateIds;
  bool mayBegin =
      out.resume == ResumeKind::Never || out.resume == ResumeKind::Auto;
  bool measures = !out.tune.empty();
  // A run that only samples, evaluates, predicts or measures saves nothing.
  bool writes =
      out.trains() || !(samples || out.evalOnly || out.predicts || measures);
  bool reads = out.resume != ResumeKind::Never;
  const char *training = "a run that trains (--steps above 0)";
  const char *reading = "a run that trains (--steps above 0) or evaluates";
  const char *validation = "--val-data or --val-fraction";
  const struct {
    std::vector<const char *> flags;
    bool works;
    const char *needs;
  } rules[] = {
      {{"tune"}, !out.dryRun, "a run without --dry-run"},
      {{"tuning"}, !measures, "a run without --tune"},
      {{"steps", "epochs"}, !measures, "a run that trains, not --tune"},
      {{"generate", "generate-ids", "eval-only", "predictions", "resume",
        "init-from", "tokenizer", "seed", "no-graph"},
       !measures,
       "a run without --tune"},
      {{"steps", "epochs", "eval-only", "generate", "generate-ids"},
       !out.predicts,
       "a run without --predictions"},
      {{"eval-only", "eval-every", "keep-best", "eval-steps"},
       validates,
       validation},
      {{"save-every", "keep", "keep-best", "stop-after"}, saves, "--save-dir"},
      {{"steps", "epochs"},
       !out.evalOnly,
       "a run that trains, not --eval-only"},
      {{"eval-every"}, writes, training},
      {{"metrics", "tensorboard"}, writes || out.evalOnly, reading},
      {{"trace", "dump-grads"}, writes, training},
      {{"overwrite"},
       !out.filesWritten.empty(),
       "--metrics, --trace, --dump-grads, --predictions or --tune"},
      {{"save-dir"}, writes || reads, training},
      {{"save-every", "keep", "keep-best"}, writes, training},
      {{"sample-every", "stop"}, samplesText, "--generate"},
      {{"stop-ids"}, out.generateIds.has_value(), "--generate-ids"},
      {{"generate-ids"}, !writes && !out.evalOnly, "a run that only samples"},
      {{"sample-every", "stop-after", "check-replicas"}, writes, training},
      {{"init-from"}, mayBegin, "a run that does not resume"},
      {{"min-lr", "lr-decay-steps"},
       decays,
       "an --lr-schedule that is not constant"},
      {{"max-new-tokens", "temperature", "top-k", "top-p", "min-p",
        "repetition-penalty"},
       samples,
       "--generate"},
      {{"lr", "lr-schedule", "lr-decay-steps", "warmup", "min-lr",
        "weight-decay", "beta1", "beta2", "eps", "momentum", "clip", "accum",
        "shuffle", "log-every"},
       writes,
       training},
      {{"data-name"}, !keptKnown || !out.data.empty(), "--data"},
      {{"val-data-name"}, !keptKnown || !out.valData.empty(), "--val-data"},
      {{"data", "data-format"},
       writes || out.evalOnly || out.predicts,
       "a run that trains (--steps above 0), evaluates or predicts"},
      {{"val-data", "val-fraction"}, writes || out.evalOnly, reading},
  };
  // weft evaluate has another name for --eval-only.
  if (flags.isSet("eval-only") && !measures && !out.predicts && !validates)
    return usageError("expects ", validation, ", the data to evaluate");
  for (const auto &[names, works, needs] : rules)
    for (const char *flag : names)
      if (flags.isSet(flag) && !works)
        return usageError("--", flag, " expects ", needs);
  return Status::success();
}

Status weft::checkTogether(const FlagValues &flags, const RunOptions &out,
                           bool keptKnown) {
  if (!out.valData.empty() && out.valFraction > 0)
    return usageError("expects --val-data or --val-fraction, but got both");
  for (const char *name : {"save-dir", "tensorboard"})
    if (Status s = checkFolderName(concat("--", name), flags.getText(name)); !s)
      return s;
  for (const char *name : {"generate-ids", "stop-ids"})
    if (flags.isSet(name) && parseTokenIds(flags.getString(name)).empty())
      return usageError("--", name,
                        " expects token numbers such as 5,12,7, "
                        "but got ",
                        inQuotes(flags.getString(name)));
  if (flags.isSet("generate") && flags.isSet("generate-ids"))
    return usageError("expects --generate or --generate-ids, but got both");
  if (flags.isSet("steps") && flags.isSet("epochs"))
    return usageError("expects --steps or --epochs, but got both");
  if (Status s = checkEffects(flags, out, keptKnown); !s)
    return s;
  if (out.tune == "none" || out.tune == "auto")
    return usageError("--tune expects a file that --tuning can name, but got ",
                      inQuotes(out.tune))
        .hint("such as ./" + out.tune);
  if (out.saveDir.empty() &&
      (out.resume == ResumeKind::Auto || out.resume == ResumeKind::Must))
    return usageError("--resume=", flags.getString("resume"),
                      " expects --save-dir");
  if (out.resume == ResumeKind::Path && out.resumePath.empty())
    return usageError("--resume expects auto, never, must or a path, but got "
                      "an empty text");
  return Status::success();
}

/// Flags that say how a device is used are for programs of that device.
static Status checkDevice(const FlagValues &flags, const Metadata &metadata) {
  for (std::string_view wrong : flagsOfOthers(metadata))
    if (flags.isSet(std::string(wrong)))
      return usageError("--", wrong, " expects a program for ",
                        isForCuda(metadata) ? "the CPU" : "CUDA devices",
                        ", but got one for --target=", metadata.target);
  return Status::success();
}

Status weft::checkProgram(const FlagValues &flags, const Metadata &metadata,
                          const RunOptions &out) {
  for (const char *name :
       {"data-format", "tokenizer", "generate", "generate-ids"})
    if (flags.isSet(name) && !metadata.isLanguageModel())
      return usageError("--", name, " expects a language model, but got ",
                        inQuotes(metadata.name));
  if (Status s = checkDevice(flags, metadata); !s)
    return s;
  if (Status s = checkRankFlags(flags, metadata, out); !s)
    return s;
  if (out.accum > 1 && !metadata.accumulation)
    return usageError("--accum expects 1, but got ", out.accum,
                      ": the program was compiled without accumulation")
        .hint("compile with --accumulation=on");
  if (out.clip > 0 && !metadata.canClip)
    return usageError("--clip expects a program that can clip, but this one "
                      "was compiled without a norm")
        .hint("compile with --clip-norm=2");
  return Status::success();
}

Status weft::checkTraining(const Metadata &metadata, const RunOptions &out) {
  bool alone =
      out.generate || out.evalOnly || out.predicts || !out.tune.empty();
  if (!out.steps && !out.epochs && !alone && metadata.optimizers.empty())
    return usageError("expects --eval-only, --predictions FILE or --generate "
                      "PROMPT, since the program was compiled with --inference")
        .hint("weft compile MODEL without --inference makes one that trains");
  if (!out.steps && !out.epochs && !alone)
    return usageError("expects --steps N, the number of optimizer steps")
        .hint("--epochs N reads all rows N times; --generate PROMPT alone "
              "prints a sample, --eval-only the validation loss");
  if (!out.trains() && !alone)
    return usageError("--steps expects at least 1, but got 0")
        .hint("--steps 0 is for --generate PROMPT");
  if (out.readsTraining && out.data.empty())
    return usageError("expects --data FILE");
  // Rows are numbered from the start of training in 64 bits.
  const double rows = double(out.steps.value_or(0)) * double(out.accum) *
                      double(metadata.batch);
  if (rows > 0x1p62)
    return usageError(
        "--steps expects at most 2^62 rows of data with --accum=", out.accum,
        " and batch ", metadata.batch, ", but got ", *out.steps, " steps");
  return out.steps ? checkRates(out) : Status::success();
}
