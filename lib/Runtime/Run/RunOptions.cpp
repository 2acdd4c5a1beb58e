//===- RunOptions.cpp - The parsed command line of a run ------------------===//

#include "RunRules.h"

#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Collectives/Processes.h"

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
  out.dataName = flags.getString("data-name");
  out.valDataName = flags.getString("val-data-name");
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
    out.generateIds = parseTokenIds(flags.getString("generate-ids"));
  }
  out.stopIds = parseTokenIds(flags.getString("stop-ids"));
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

/// Whether a flag must be equal in all processes of a run. Of predictions the
/// process with rank 0 alone knows the place.
static bool isCommon(const std::string &flag) {
  const std::string name = flag.substr(2, flag.find('=') - 2);
  return name != "predictions" && name != "threads" && name != "progress" &&
         name != "data" && name != "val-data" && name != "data-name" &&
         name != "val-data-name";
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
  if (out.predicts)
    out.common.push_back("--predictions");
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
