//===- Run.cpp - One run of an executable ---------------------------------===//

#include "weft/Runtime/Run/Run.h"

#include "weft/Abi/Names.h"
#include "weft/Base/CountText.h"
#include "weft/Base/OutputFile.h"
#include "weft/Base/ReadProgress.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Formats/ModelWeights.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Checkpoints/CheckpointShares.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Runtime/Run/Trainer.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

using namespace weft;

void Run::tell(const std::string &text, const std::string &hint) const {
  if (isFirst())
    warn(text, hint);
}

/// Begins an output file and drops it, which leaves no file. Pipes are not
/// tried, since their reader would see the end of the file.
static Status checkWritable(const std::string &path) {
  if (path.empty() || isWrittenInPlace(path))
    return Status::success();
  auto trial = OutputFile::create(path);
  return trial ? Status::success() : Status(trial.takeError());
}

/// Commands that take a model would see a folder of checkpoints in its place.
static Status checkNoModel(const std::string &saveDir) {
  std::error_code ignored;
  if (saveDir.empty() ||
      !std::filesystem::exists(std::filesystem::path(saveDir) / "config.json",
                               ignored))
    return Status::success();
  return usageError("--save-dir expects a folder of checkpoints, but got the "
                    "folder of a model")
      .at(saveDir)
      .hint("a folder inside of it, such as " + saveDir + "/run, works");
}

/// Checks that no output of the run is one of its inputs.
Status Run::checkFiles() const {
  if (Status s = checkNoModel(options.saveDir); !s)
    return s;
  std::vector<FileUse> inputs = {{"the program", executablePath}};
  auto add = [&](const FileUse &use) {
    inputs.push_back(use);
    for (const std::string &file : ModelWeights::filesOf(use.path))
      inputs.push_back({use.role, file});
  };
  for (const FileUse &use : options.filesRead)
    add(use);
  if (options.initFrom.empty())
    for (const InitialFile &file : metadata.initialWeights)
      add({"the initial weights", locateWeights(file.path, executablePath)});
  std::vector<FileUse> outputs = options.filesWritten;
  if (!options.tensorboard.empty())
    outputs.push_back({"--tensorboard", options.tensorboard + "/events"});
  if (Status s = checkOutputPaths(outputs, inputs, manifestName); !s)
    return s;
  return checkReplaced(options.filesWritten, options.overwrites);
}

/// Where the outputs of a run can be created; a dry run creates none.
Status Run::checkPlaces() const {
  if (!isFirst())
    return Status::success();
  for (const FileUse &use : options.filesWritten)
    if (Status s = checkFilePlace(use.path); !s)
      return s;
  if (!options.tensorboard.empty())
    if (Status s = checkFolderPlace(options.tensorboard); !s)
      return s;
  return options.saveDir.empty() || !options.trains()
             ? Status::success()
             : checkFolderPlace(options.saveDir);
}

Status Run::openInputs() {
  if (!options.readsRows())
    return Status::success();
  const WeftProgram *reader =
      findProgram(executable, options.trains()   ? names::kMicro
                              : options.predicts ? names::kPredict
                                                 : names::kEval);
  auto opened =
      openData(options, metadata,
               reader ? dataInputs(*reader) : std::vector<WeftPort>());
  if (!opened)
    return opened.takeError();
  data = std::move(*opened);
  for (const std::string &text : data.warnings)
    tell(text);
  if (options.predicts)
    return Status::success();
  return options.trains() ? checkTrainable(executable, data)
                          : checkEvaluable(executable);
}

/// Locks the save directory before anything in it is read, so that its contents
/// do not change.
Status Run::lockSaves() {
  if (options.saveDir.empty() || !options.trains() || options.dryRun ||
      !isFirst())
    return Status::success();
  if (Status s = assign(SaveLock::take(options.saveDir), lock); !s)
    return s;
  if (lock.holds())
    return cleanTemporaries(options.saveDir);
  warn(options.saveDir + ": the file system has no locks: see that no other "
                         "run saves here");
  return Status::success();
}

/// Records the identity of the data for checkpoints and for the comparison with
/// the resumed run. It reads all data, so it runs only if the identity is used.
Status Run::identifyData() {
  record = options.record;
  if (options.trains())
    record.decaySteps = options.schedule.decaySteps;
  // A dry run has no device to compare.
  if (!options.dryRun)
    record.device = ranks.first().context().device().facts();
  else if (resume && resume->manifest.run)
    record.device = resume->manifest.run->device;
  const bool isShared = inputs.process != nullptr;
  const bool matters = options.trains()
                           ? !options.saveDir.empty() || resume || isShared
                           : options.predicts && isShared;
  if (!matters)
    return Status::success();
  if (Status s = assign(data.train->identity(), record.data); !s)
    return s;
  if (options.valData.empty())
    return Status::success();
  return assign(data.val->identity(), record.valData);
}

/// Trains on all ranks; rank 0 writes the journal.
Expected<ExitCode> Run::trainTogether(const SavePolicy *policy,
                                      Journal &journal,
                                      const StopRequest &signals) {
  std::vector<ExitCode> codes(size_t(inputs.ranks()), ExitCode::Ok);
  Status trained = ranks.together([&](RankPart &rank) -> Status {
    const int number = rank.context().rank();
    Journal silent;
    return assign(rank.train(state, data, policy, record,
                             number == 0 ? journal : silent, signals),
                  codes[size_t(number)]);
  });
  if (Status s = ranks.settle(std::move(trained)); !s)
    return s.takeError();
  return codes[size_t(ranks.first().context().rank())];
}

/// Prepares the outputs of the process with rank 0.
Status Run::prepareOutputs(const SavePolicy &policy) const {
  if (!isFirst())
    return Status::success();
  if (!policy.saveDir.empty())
    if (Status s = freeSpaceAfter(policy.saveDir, state.step); !s)
      return s;
  if (!policy.saveDir.empty())
    if (Status s = prepareSaves(policy, executable, state.step + 1); !s)
      return s;
  for (const std::string &path : {options.trace, options.dumpGrads})
    if (Status s = checkWritable(path); !s)
      return s;
  return Status::success();
}

/// The signals whose message this process prints. `weft launch` prints messages
/// for its ranks.
EndNotice Run::endNotice() const {
  if (!inputs.process)
    return EndNotice::OfAll;
  return isFirst() && !std::getenv(kLaunchVariable) ? EndNotice::OfInterrupt
                                                    : EndNotice::None;
}

/// Handlers are installed before anything is written. Metrics are begun last,
/// after all other checks.
Expected<ExitCode> Run::train() {
  const bool canSave = !options.saveDir.empty();
  SignalScope signals(canSave, endNotice());
  if (inputs.process && !canSave)
    sendLaunchHeartbeat(RankStage::Unsaved);
  const SavePolicy policy = {options.saveDir, options.keep, options.keepBest,
                             &lock};
  if (Status s = ranks.settle(prepareOutputs(policy)); !s)
    return s.takeError();
  const ProgressKind progress =
      isFirst() ? options.progress : ProgressKind::None;
  auto journal = openJournal(
      Progress(progress, state.step + 1, *options.steps, options.logEvery,
               metadata.isLanguageModel() ? "tok" : "rows"));
  if (Status s = ranks.settle(journal ? Status::success()
                                      : Status(journal.takeError()));
      !s)
    return s.takeError();
  auto code = trainTogether(policy.saveDir.empty() ? nullptr : &policy,
                            *journal, signals);
  if (code && isForPeople(progress))
    sayEnd(journal->summary());
  return code;
}

/// The last lines of a training, with the files that it has written.
void Run::sayEnd(RunSummary summary) const {
  if (summary.steps == 0)
    return;
  const int64_t rows = metadata.batch * options.accum * inputs.ranks();
  summary.epochs = double(summary.steps * rows) / double(data.train->rows());
  if (!options.saveDir.empty())
    summary.files.push_back(options.saveDir);
  for (const std::string &path :
       {options.metrics, options.tensorboard, options.trace, options.dumpGrads})
    if (!path.empty())
      summary.files.push_back(path);
  const int columns = launcherColumns();
  printEscaped(
      describeEnd(summary, size_t(columns > 0 ? columns : outputColumns())));
}

void Run::warnOfRandomWeights(const char *what) const {
  if (!options.trains() && !resume && !weights->fromFile())
    tell(std::string(what) +
         " random weights; --resume or --init-from gives others");
}

Status Run::evaluateAlone() {
  warnOfRandomWeights("evaluating");
  auto journal =
      openJournal(Progress(options.progress, state.step, state.step, 1, ""));
  if (Status s = ranks.settle(journal ? Status::success()
                                      : Status(journal.takeError()));
      !s)
    return s;
  EvalReport report;
  Status done = ranks.together([&](RankPart &rank) -> Status {
    auto found = rank.evaluate(data);
    if (!found)
      return found.takeError();
    if (&rank == &ranks.first() && *found)
      report = std::move(**found);
    return Status::success();
  });
  if (Status s = ranks.settle(std::move(done)); !s)
    return s;
  if (!isFirst())
    return Status::success();
  report.step = state.step;
  if (Status s = journal->eval(report); !s)
    return s;
  if (std::isfinite(report.loss))
    return Status::success();
  return numericsError("the validation loss is not a number");
}

/// Checks that measurements and predictions can be written, since they take
/// long.
Status Run::checkResults() const {
  if (!isFirst())
    return Status::success();
  if (Status s = checkWritable(options.tune); !s)
    return s;
  return checkWritable(options.predictions);
}

/// Measures the algorithms of products and does not train.
Expected<ExitCode> Run::tune() {
  int64_t products = 0;
  Status done = ranks.together([&](RankPart &rank) -> Status {
    auto measured = rank.tune();
    if (!measured)
      return measured.takeError();
    products = *measured;
    return Status::success();
  });
  if (!done)
    return done.takeError();
  if (options.progress != ProgressKind::None)
    printEscaped("measured the algorithms of " +
                 countText(products, "product") + ": " + options.tune + "\n");
  return ExitCode::Ok;
}

/// Opens the data and the state to start from. Heartbeats are sent meanwhile,
/// since disks may be slow.
Status Run::findInputs() {
  const auto heartbeats = ranks.sendHeartbeats();
  if (Status s = ranks.settle(openInputs()); !s)
    return s;
  if (Status s = ranks.settle(lockSaves()); !s)
    return s;
  if (Status s = ranks.settle(chooseState()); !s)
    return s;
  return ranks.settle(identifyData());
}

void Run::warnOfFewReplicas() const {
  if (options.checkReplicas == 0)
    return;
  const ReplicaCount count = countReplicas(executable, inputs.ranks(), 0);
  if (count.weights == 0)
    tell("--check-replicas compares " + std::to_string(count.shared) + " of " +
         std::to_string(count.all) + " tensors, " + humanBytes(count.bytes) +
         ": each rank has its own shard of the others");
}

/// All remaining checks of inputs, before anything is written.
Status Run::prepare() {
  if (Status s = findInputs(); !s)
    return s;
  if (Status s = checkFound(); !s)
    return s;
  Status hunts = ranks.inTurn([](RankPart &rank) { return rank.startHunt(); });
  if (Status s = ranks.settle(std::move(hunts)); !s)
    return s;
  if (Status s = ranks.settle(loadState()); !s)
    return s;
  warnOfChanges();
  if (std::string early = warnOfEarlyEnd(options); !early.empty())
    tell(early);
  warnOfFewReplicas();
  // Checked here before anything is written, and again when the file is opened.
  auto start = metricsStart();
  return ranks.settle(start ? Status::success() : Status(start.takeError()));
}

Expected<ExitCode> Run::execute(Status ready) {
  if (!ready && !inputs.process)
    return ready.takeError();
  ReadProgress::show(isFirst() && isForPeople(options.progress));
  if (Status s = ranks.start(); !s)
    return s.takeError();
  if (Status s = checkStart(std::move(ready)); !s)
    return s.takeError();
  if (Status s = ranks.settle(checkFiles()); !s)
    return s.takeError();
  if (Status s = ranks.settle(checkResults()); !s)
    return s.takeError();
  // Open devices before data is read, which takes long.
  Status opened = ranks.inTurn([](RankPart &rank) { return rank.open(); });
  if (Status s = ranks.settle(std::move(opened)); !s)
    return s.takeError();
  if (Status s = chooseCommonLibrary(); !s)
    return s.takeError();
  if (!options.tune.empty())
    return tune();
  if (Status s = chooseCommonAlgorithms(); !s)
    return s.takeError();
  if (Status s = prepare(); !s)
    return s.takeError();
  const bool talks = isForPeople(options.progress);
  if (isFirst() && (options.dryRun || (talks && options.readsRows())))
    printEscaped(describe());
  if (options.dryRun) {
    if (Status s = ranks.settle(checkPlaces()); !s)
      return s.takeError();
    return ExitCode::Ok;
  }
  ExitCode code = ExitCode::Ok;
  if (options.trains())
    if (Status s = assign(train(), code); !s)
      return s.takeError();
  if (options.evalOnly)
    if (Status s = ranks.settle(evaluateAlone()); !s)
      return s.takeError();
  if (options.predicts)
    if (Status s = predictAlone(); !s)
      return s.takeError();
  if (options.generate && code == ExitCode::Ok && !hasShownSample() &&
      !ranks.first().hasLostText())
    if (Status s = sample(); !s)
      return s.takeError();
  Status finished = ranks.inTurn([](RankPart &rank) { return rank.finish(); });
  if (Status s = ranks.settle(std::move(finished)); !s)
    return s.takeError();
  return code;
}
