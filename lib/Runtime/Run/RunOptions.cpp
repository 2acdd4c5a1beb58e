//===- RunOptions.cpp - The parsed command line of a run ------------------===//

#include "weft/Runtime/Run/RunFlags.h"

#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Collectives/Processes.h"

#include <charconv>
#include <unistd.h>

using namespace weft;

static RateScheduleKind scheduleKind(const std::string &text) {
  if (text == "linear")
    return RateScheduleKind::Linear;
  if (text == "cosine")
    return RateScheduleKind::Cosine;
  return text == "wsd" ? RateScheduleKind::Wsd : RateScheduleKind::Constant;
}

/// The kind that --progress=auto stands for: a bar on a terminal that can
/// redraw it, narrow lines on another one, else lines. A launcher other than
/// weft gives its processes terminals of their own, whose output may go
/// anywhere.
static ProgressKind chooseProgress() {
  if (launcherColumns() > 0)
    return ProgressKind::Bar;
  if (!isatty(STDOUT_FILENO))
    return ProgressKind::Line;
  return canRedrawOutput() && !findLauncher() ? ProgressKind::Bar
                                              : ProgressKind::NarrowLine;
}

static ProgressKind progressKind(const std::string &text) {
  if (text == "auto")
    return chooseProgress();
  if (text == "bar")
    return ProgressKind::Bar;
  if (text == "json")
    return ProgressKind::Json;
  return text == "line" ? ProgressKind::Line : ProgressKind::None;
}

static void readData(const FlagValues &flags, RunOptions &out) {
  out.data = flags.getString("data");
  out.valData = flags.getString("val-data");
  out.valFraction = flags.getDouble("val-fraction");
  // The flag table admits the names of formats only.
  out.format = *parseTokenFormat(flags.getString("data-format"));
  out.byteTokenizer = flags.getString("tokenizer") == "bytes";
  out.shuffle = flags.getSwitch("shuffle");
  out.shuffleGiven = flags.isSet("shuffle");
  if (flags.hasValue("steps"))
    out.steps = flags.getInt("steps");
  if (flags.hasValue("epochs"))
    out.epochs = flags.getInt("epochs");
  out.readsTraining =
      out.trains() || out.predicts || (out.evalOnly && out.valData.empty());
  out.stopAfter = flags.getInt("stop-after");
  out.accum = flags.getInt("accum");
}

static void readOptimizer(const FlagValues &flags, const Metadata &metadata,
                          RunOptions &out) {
  out.schedule.kind = scheduleKind(flags.getString("lr-schedule"));
  out.schedule.lr = flags.getDouble("lr");
  out.schedule.minLr = flags.getDouble("min-lr");
  out.schedule.warmup = flags.getInt("warmup");
  out.schedule.decaySteps = flags.getInt("lr-decay-steps");
  out.decaysToEnd = !flags.hasValue("lr-decay-steps");
  if (out.steps)
    setSteps(out, *out.steps);
  out.weightDecay = flags.getDouble("weight-decay", 0.0);
  for (const auto &[input, decay] : metadata.decays)
    out.ownDecays[input] = flags.getDouble("weight-decay", decay);
  out.beta1 = flags.getDouble("beta1");
  out.beta2 = flags.getDouble("beta2");
  out.eps = flags.getDouble("eps");
  out.momentum = flags.getDouble("momentum");
  out.clip = flags.getDouble("clip");
}

static void readState(const FlagValues &flags, RunOptions &out) {
  out.seed = flags.getInt("seed");
  out.seedGiven = flags.isSet("seed");
  out.initFrom = flags.getString("init-from");
  out.threads = flags.getInt("threads");
  if (flags.isSet("loopback"))
    out.loopback = flags.getInt("loopback");
  out.timeout = flags.getDouble("timeout");
  out.checkReplicas = flags.getInt("check-replicas");
  out.saveDir = flags.getString("save-dir");
  if (out.saveDir == "none")
    out.saveDir.clear();
  out.saveEvery = flags.getInt("save-every");
  out.keep = flags.getInt("keep");
  out.keepBest = flags.getSwitch("keep-best");
  const std::string &resume = flags.getString("resume");
  out.resume = resume == "never"  ? ResumeKind::Never
               : resume == "auto" ? ResumeKind::Auto
               : resume == "must" ? ResumeKind::Must
                                  : ResumeKind::Path;
  if (out.resume == ResumeKind::Path)
    out.resumePath = resume;
}

/// The numbers of a list such as 5,12,7; none if it is malformed.
static std::vector<int32_t> idsOf(const std::string &text) {
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

static void readOutput(const FlagValues &flags, RunOptions &out) {
  out.logEvery = flags.getInt("log-every");
  out.evalEvery = flags.getInt("eval-every");
  out.evalOnly = flags.getSwitch("eval-only");
  out.evalSteps = out.evalOnly && !flags.isSet("eval-steps")
                      ? 0
                      : flags.getInt("eval-steps");
  out.metrics = flags.getString("metrics");
  out.tensorboard = flags.getString("tensorboard");
  out.trace = flags.getString("trace");
  out.dumpGrads = flags.getString("dump-grads");
  out.predictions = flags.getString("predictions");
  out.predicts = !out.predictions.empty();
  out.progress = progressKind(flags.getString("progress"));
  if (flags.isSet("generate"))
    out.generate = flags.getString("generate");
  out.maxNewTokens = flags.getInt("max-new-tokens");
  out.temperature = flags.getDouble("temperature");
  out.topK = flags.getInt("top-k");
  out.topP = flags.getDouble("top-p");
  out.minP = flags.getDouble("min-p");
  out.repetitionPenalty = flags.getDouble("repetition-penalty");
  out.stop = flags.getString("stop");
  if (flags.isSet("generate-ids")) {
    out.generate = "";
    out.generateIds = idsOf(flags.getString("generate-ids"));
  }
  out.stopIds = idsOf(flags.getString("stop-ids"));
  out.sampleEvery = flags.getInt("sample-every");
  out.graphs = !flags.getSwitch("no-graph");
  const std::string &gather = flags.getString("gather");
  out.gather = gather == "sm"   ? GatherBy::Kernels
               : gather == "ce" ? GatherBy::CopyEngines
                                : GatherBy::Auto;
  out.tune = flags.getString("tune");
  if (flags.getString("tuning") != "none")
    out.tuning = flags.getString("tuning");
  out.dryRun = flags.getSwitch("dry-run");
  out.help = askedHelp(flags);
  out.version = flags.getSwitch("version");
  out.filesRead = flags.files(FlagFile::Read);
  out.filesWritten = flags.files(FlagFile::Written);
  out.overwrites = flags.getSwitch("overwrite");
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
      {{"data", "data-format"},
       writes || out.evalOnly || out.predicts,
       "a run that trains (--steps above 0), evaluates or predicts"},
      {{"val-data", "val-fraction"}, writes || out.evalOnly, reading},
  };
  for (const auto &[names, works, needs] : rules)
    for (const char *flag : names)
      if (flags.isSet(flag) && !works)
        return usageError("--", flag, " expects ", needs);
  return Status::success();
}

/// Rules between flags, independent of the program.
static Status checkTogether(const FlagValues &flags, const RunOptions &out,
                            bool keptKnown) {
  if (!out.valData.empty() && out.valFraction > 0)
    return usageError("expects --val-data or --val-fraction, but got both");
  for (const char *name : {"generate-ids", "stop-ids"})
    if (flags.isSet(name) && idsOf(flags.getString(name)).empty())
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
  if (out.tune == "none")
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

/// Rules between flags and the program.
static Status checkProgram(const FlagValues &flags, const Metadata &metadata,
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

/// Checks the flags that training requires.
static Status checkTraining(const Metadata &metadata, const RunOptions &out) {
  bool alone =
      out.generate || out.evalOnly || out.predicts || !out.tune.empty();
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

/// Whether a flag must be equal in all processes of a run.
static bool isCommon(const std::string &flag) {
  const std::string name = flag.substr(2, flag.find('=') - 2);
  return name != "threads" && name != "progress" && name != "data" &&
         name != "val-data";
}

/// `given` is the command line and its file alone. `flags` also has the flags
/// that the checkpoint recorded, if `keptKnown`.
static Status readOptions(const FlagValues &given, const FlagValues &flags,
                          bool keptKnown, const Metadata &metadata,
                          RunOptions &out) {
  readData(flags, out);
  readOptimizer(flags, metadata, out);
  readState(flags, out);
  for (const std::string &flag : flags.canonical(RunFlag))
    if (isCommon(flag))
      out.common.push_back(flag);
  for (const char *name :
       {"lr", "weight-decay", "beta1", "beta2", "eps", "momentum"})
    if (given.isSet(name))
      out.given.push_back(name);
  return checkTogether(given, out, keptKnown);
}

/// The flags that the run uses.
static Expected<FlagValues> parseUsed(const FlagTable &table,
                                      const std::vector<std::string> &args,
                                      const FlagParseOptions &parse) {
  auto flags = table.parse(args, parse);
  if (!flags)
    return flags;
  return withoutUnused(*flags, runUseOf(*flags));
}

Expected<RunOptions> weft::parseRunOptions(const std::vector<std::string> &args,
                                           const Metadata &metadata,
                                           const WeftExecutable &executable,
                                           const std::string &program) {
  FlagParseOptions parse;
  parse.groups = RunFlag;
  parse.maxPositionals = 0;
  parse.program = program;
  const auto compiled = compiledFlags(metadata);
  parse.compiledWith = &compiled;
  FlagTable table(specsFor(metadata));
  auto given = parseUsed(table, args, parse);
  if (!given)
    return given.takeError();
  RunOptions out;
  readOutput(*given, out);
  if (out.help || out.version)
    return out;
  if (Status s = checkCompiledFlags(*given, metadata); !s)
    return s.takeError();
  auto kept = findKeptSettings(*given, table, metadata, executable);
  if (!kept && given->getSwitch("print-config"))
    return kept.takeError();
  if (!kept) {
    // Errors of the given flags come first. Flags that are complete without the
    // checkpoint are accepted: it is chosen later, under the lock.
    if (Status s =
            readOptions(*given, *given, /*keptKnown=*/false, metadata, out);
        !s)
      return s.takeError();
    if (checkProgram(*given, metadata, out) && checkTraining(metadata, out))
      return out;
    return kept.takeError();
  }
  std::vector<std::string> all = kept->args;
  all.insert(all.end(), args.begin(), args.end());
  parse.fromCheckpoint = kept->args.size();
  auto flags = parseUsed(table, all, parse);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("print-config")) {
    auto text = formatRunFile(*flags, program);
    if (!text)
      return text.takeError();
    out.config = std::move(*text);
    return out;
  }
  out = RunOptions();
  readOutput(*flags, out);
  if (Status s = readOptions(*given, *flags, /*keptKnown=*/true, metadata, out);
      !s)
    return s.takeError();
  if (Status s = checkProgram(*flags, metadata, out); !s)
    return s.takeError();
  if (Status s = checkTraining(metadata, out); !s)
    return s.takeError();
  if (Status s = checkInputsAreThere(*kept); !s)
    return s.takeError();
  out.record = recordOf(*flags, table, *kept, metadata);
  out.kept = std::move(kept->args);
  return out;
}
