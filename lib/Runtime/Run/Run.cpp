//===- Run.cpp - One run of an executable ---------------------------------===//

#include "weft/Runtime/Run/Run.h"

#include "weft/Formats/Names.h"
#include "weft/Formats/OutputFile.h"
#include "weft/Formats/StandardStreams.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Run/Trainer.h"

#include <cmath>
#include <cstdio>

using namespace weft;

/// A file that is begun and dropped leaves nothing; the reader of a pipe would
/// take that for the end.
static Status checkWritable(const std::string &path) {
  if (path.empty() || isWrittenInPlace(path))
    return Status::success();
  auto trial = OutputFile::create(path);
  return trial ? Status::success() : Status(trial.takeError());
}

/// Nothing that the run writes is a file that it reads.
Status Run::checkFiles() const {
  std::vector<FileUse> inputs = {{"the program", executablePath}};
  auto add = [&](const FileUse &use) {
    inputs.push_back(use);
    for (const std::string &file : SafetensorsModel::filesOf(use.path))
      inputs.push_back({use.role, file});
  };
  for (const FileUse &use : options.filesRead)
    add(use);
  if (options.initFrom.empty())
    for (const InitialFile &file : metadata.initialWeights)
      add({"the initial weights", locateWeights(file.path, executablePath)});
  return checkOutputPaths(options.filesWritten, inputs);
}

Status Run::openInputs() {
  if (!options.trains() && !options.evalOnly)
    return Status::success();
  const WeftProgram *reader =
      findProgram(executable, options.trains() ? names::kMicro : names::kEval);
  auto opened =
      openData(options, metadata,
               reader ? dataInputs(*reader) : std::vector<WeftPort>());
  if (!opened)
    return opened.takeError();
  data = std::move(*opened);
  for (const std::string &text : data.warnings)
    warn(text);
  return options.trains() ? checkTrainable(executable, data)
                          : checkEvaluable(executable);
}

/// Before anything in the save directory is read: what it holds stays so.
Status Run::lockSaves() {
  if (options.saveDir.empty() || !options.trains() || options.dryRun)
    return Status::success();
  auto taken = SaveLock::take(options.saveDir);
  if (!taken)
    return taken.takeError();
  lock = std::move(*taken);
  if (lock.holds())
    return cleanTemporaries(options.saveDir);
  warn(options.saveDir + ": the file system has no locks: see that no other "
                         "run saves here");
  return Status::success();
}

/// What the data is, for the checkpoints of this run and to compare with that
/// of the one it continues. All of it is read, so only when it matters.
Status Run::identifyData() {
  record = options.record;
  // A run that only says what it would do has no device to compare.
  if (!options.dryRun)
    record.device = ranks.first().context().device().facts();
  else if (resume && resume->manifest.run)
    record.device = resume->manifest.run->device;
  if (!options.trains() || (options.saveDir.empty() && !resume))
    return Status::success();
  auto training = data.train->identity();
  if (!training)
    return training.takeError();
  record.data = std::move(*training);
  if (options.valData.empty())
    return Status::success();
  auto validation = data.val->identity();
  if (!validation)
    return validation.takeError();
  record.valData = std::move(*validation);
  return Status::success();
}

Expected<MetricsStart> Run::metricsStart() const {
  if (options.metrics.empty())
    return MetricsStart();
  // An evaluation alone adds its line to what is there.
  std::optional<int64_t> keptStep;
  if (options.evalOnly)
    keptStep = keepAllSteps;
  else if (resume)
    keptStep = state.step;
  return startMetrics(options.metrics, metricsHeader(), keptStep);
}

/// Whether the run that is continued has written the same metrics file.
bool Run::wroteMetrics() const {
  if (!resume || !resume->manifest.run || options.evalOnly ||
      isWrittenInPlace(options.metrics))
    return false;
  const std::string *was = findSetting(resume->manifest.run->files, "metrics");
  const std::string *now = findSetting(record.files, "metrics");
  return was && now && *was == *now;
}

Expected<MetricsLog> Run::openMetrics() const {
  if (options.metrics.empty())
    return MetricsLog();
  auto old = FileLock::take(options.metrics);
  if (!old)
    return old.takeError();
  auto start = metricsStart();
  if (!start)
    return start.takeError();
  for (const std::string &text : start->warnings)
    warn(text);
  if (start->isEmpty && wroteMetrics())
    warn(options.metrics + ": begins anew: the metrics up to step " +
         std::to_string(state.step) + " of the checkpoint are gone");
  return MetricsLog::open(options.metrics, *start, *old);
}

/// The first rank reports.
Expected<ExitCode> Run::trainTogether(const SavePolicy *policy,
                                      Journal &journal,
                                      const StopRequest &signals) {
  std::vector<ExitCode> codes(size_t(ranks.count()), ExitCode::Ok);
  Status trained = ranks.together([&](RankPart &rank) -> Status {
    const int number = rank.context().rank();
    Journal silent;
    auto code = rank.train(state, data, policy, record,
                           number == 0 ? journal : silent, signals);
    if (!code)
      return code.takeError();
    codes[size_t(number)] = *code;
    return Status::success();
  });
  if (!trained)
    return trained.takeError();
  return codes.front();
}

/// Handlers are installed before anything is written, and metrics are begun
/// when nothing else can be wrong any more.
Expected<ExitCode> Run::train() {
  SignalScope signals(/*canSave=*/!options.saveDir.empty());
  const SavePolicy policy = {options.saveDir, options.keep, options.keepBest,
                             &lock};
  const bool saves = !options.saveDir.empty();
  if (saves)
    if (Status s = makeRoomAfter(options.saveDir, state.step); !s)
      return s.takeError();
  if (Status s = saves ? prepareSaves(policy, executable, state.step + 1)
                       : Status::success();
      !s)
    return s.takeError();
  for (const std::string &path : {options.trace, options.dumpGrads})
    if (Status s = checkWritable(path); !s)
      return s.takeError();
  auto metrics = openMetrics();
  if (!metrics)
    return metrics.takeError();
  Journal journal(Progress(options.progress, state.step + 1, *options.steps,
                           options.logEvery,
                           metadata.isLanguageModel() ? "tok" : "rows"),
                  std::move(*metrics));
  return trainTogether(saves ? &policy : nullptr, journal, signals);
}

void Run::warnOfRandomWeights(const char *what) const {
  if (!options.trains() && !resume && !weights->fromFile())
    warn(std::string(what) +
         " random weights; --resume or --init-from gives others");
}

Status Run::evaluateAlone() {
  warnOfRandomWeights("evaluating");
  auto metrics = openMetrics();
  if (!metrics)
    return metrics.takeError();
  EvalReport report;
  Status done = ranks.onFirst([&](RankPart &rank) -> Status {
    auto found = rank.evaluate(data);
    if (!found)
      return found.takeError();
    report = std::move(*found);
    return Status::success();
  });
  if (!done)
    return done;
  report.step = state.step;
  Progress(options.progress, state.step, state.step, 1, "").eval(report);
  if (Status s = metrics->line(evalJson(report)); !s)
    return s;
  if (std::isfinite(report.loss))
    return Status::success();
  return Error(ExitCode::Numerics, "the validation loss is not a number");
}

Status Run::sample() {
  warnOfRandomWeights("sampling from");
  std::string whole = *options.generate;
  Status done = ranks.onFirst([&](RankPart &rank) -> Status {
    auto text = rank.sample(state.seed);
    if (!text)
      return text.takeError();
    whole += *text + "\n";
    return Status::success();
  });
  if (!done)
    return done;
  whole = forTerminal(whole);
  std::fwrite(whole.data(), 1, whole.size(), stdout);
  return Status::success();
}

/// Measures, and does nothing else.
Expected<ExitCode> Run::tune() {
  int64_t products = 0;
  Status done = ranks.onFirst([&](RankPart &rank) -> Status {
    auto measured = rank.tune();
    if (!measured)
      return measured.takeError();
    products = *measured;
    return Status::success();
  });
  if (!done)
    return done.takeError();
  if (options.progress != ProgressKind::None)
    printEscaped("measured the algorithms of " + std::to_string(products) +
                 " products: " + options.tune + "\n");
  return ExitCode::Ok;
}

Expected<ExitCode> Run::execute() {
  if (Status s = checkFiles(); !s)
    return s.takeError();
  // Before data is read, which takes long.
  ranks.start();
  if (Status s = ranks.inTurn([](RankPart &rank) { return rank.open(); }); !s)
    return s.takeError();
  if (!options.tune.empty())
    return tune();
  if (Status s = openInputs(); !s)
    return s.takeError();
  if (Status s = lockSaves(); !s)
    return s.takeError();
  if (Status s = chooseState(); !s)
    return s.takeError();
  if (Status s = identifyData(); !s)
    return s.takeError();
  if (Status s = ranks.inTurn([](RankPart &rank) { return rank.startHunt(); });
      !s)
    return s.takeError();
  if (Status s = loadState(); !s)
    return s.takeError();
  warnOfChanges();
  // Again when the file is opened: here, before anything is written.
  if (auto start = metricsStart(); !start)
    return start.takeError();
  bool talks = options.progress == ProgressKind::Line ||
               options.progress == ProgressKind::Bar;
  if (options.dryRun || (talks && (options.trains() || options.evalOnly)))
    printEscaped(describe());
  if (options.dryRun)
    return ExitCode::Ok;
  ExitCode code = ExitCode::Ok;
  if (options.trains()) {
    auto trained = train();
    if (!trained)
      return trained.takeError();
    code = *trained;
  }
  if (options.evalOnly)
    if (Status s = evaluateAlone(); !s)
      return s.takeError();
  if (options.generate && code == ExitCode::Ok)
    if (Status s = sample(); !s)
      return s.takeError();
  if (Status s = ranks.inTurn([](RankPart &rank) { return rank.finish(); }); !s)
    return s.takeError();
  return code;
}
