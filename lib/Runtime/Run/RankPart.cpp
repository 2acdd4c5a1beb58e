//===- RankPart.cpp - The part of one rank in a run -----------------------===//

#include "weft/Runtime/Run/RunRanks.h"

#include "weft/Abi/Names.h"
#include "weft/Base/CountText.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/Trainer.h"

#include <atomic>
#include <sched.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Device and state
//===----------------------------------------------------------------------===//

/// The number of threads to request from the device. Ranks of one process, and
/// unbound processes of one machine, share processors and divide them.
static int threadsOf(const RunInputs &inputs) {
  const int sharers = inputs.process ? countUnbound() : int(inputs.ranks());
  cpu_set_t set;
  if (inputs.options.threads > 0 || sharers == 1 ||
      sched_getaffinity(0, sizeof set, &set) != 0)
    return int(std::min<int64_t>(inputs.options.threads, 1024));
  return std::max(1, CPU_COUNT(&set) / sharers);
}

/// Installs the faults of collectives. They are counted over all groups of the
/// rank, in the order in which they begin.
void RankPart::breakCollectives() {
  auto skips = [&faults = inputs.faults, rank = consensus.rank(),
                calls = std::make_shared<std::atomic<int64_t>>(0)] {
    const Fault *fault = faults.find(Fault::Kind::SkippedCollective, ++*calls);
    return fault && fault->rank == rank;
  };
  for (Communicator *ranks : allRanks(*opened)) {
    if (inputs.faults.has(Fault::Kind::SkippedCollective))
      ranks->skipIf(skips);
    ranks->delayBy(inputs.faults.collectiveDelay());
  }
}

Status RankPart::open() {
  DeviceOptions wanted;
  wanted.threads = threadsOf(inputs);
  wanted.poisoned = inputs.faults.has(Fault::Kind::Poison);
  wanted.graphs = inputs.options.graphs;
  // A trace runs rank 0 command by command. Its peers meet it in each command,
  // so they may neither launch graphs nor begin the next step earlier.
  if (consensus.ranks() > 1 && !inputs.options.trace.empty()) {
    wanted.graphs = false;
    wanted.runsInAdvance = 0;
  }
  wanted.onlyDescribes = inputs.options.dryRun;
  wanted.tuning = inputs.options.tuning;
  const std::string *tf32 = findSetting(inputs.metadata.options, "tf32");
  wanted.tf32 = tf32 && *tf32 == "on";
  // Ranks of a process are opened in turn.
  if (!inputs.process)
    wanted.ranksOfProcess = consensus.ranks() - consensus.rank();
  wanted.ranksAreProcesses = inputs.process != nullptr;
  wanted.localRank = findLocalRank();
  wanted.timeout = inputs.options.timeout;
  wanted.gather = inputs.options.gather;
  wanted.collectiveCtas = inputs.metadata.collectiveCtas;
  wanted.ranksOfMachine = inputs.process ? countLocal() : consensus.ranks();
  wanted.rank = consensus.rank();
  wanted.ranks = consensus.ranks();
  if (Status s = assign(openDevice(inputs.executable, wanted), opened); !s)
    return s;
  joinRanks(*opened, std::move(steps), std::move(streams));
  if (Status s = opened->device().join(meetingsOf(*opened)); !s)
    return s;
  breakCollectives();
  return Status::success();
}

Expected<int64_t> RankPart::tune() {
  return opened->device().tune(*opened, inputs.options.tune);
}

std::string RankPart::optionalLibrary() const {
  return opened->device().optionalLibrary();
}

std::string RankPart::libraryRefusal() const {
  return opened->device().libraryRefusal(*opened);
}

void RankPart::forgoLibrary(const std::string &reason) {
  opened->device().forgoLibrary(*opened, reason);
}

std::string RankPart::describeTuning() const {
  return opened->device().describeTuning(*opened);
}

Expected<std::string> RankPart::findAlgorithms() {
  return opened->device().findAlgorithms(*opened);
}

Status RankPart::useAlgorithms(const std::string &text) {
  return opened->device().useAlgorithms(*opened, text);
}

Absence RankPart::absence() const {
  return opened ? absenceOf(*opened) : Absence();
}

void RankPart::leave() {
  if (opened)
    leaveRanks(*opened);
}

Status RankPart::finish() { return opened->device().synchronize(); }

Status RankPart::startHunt() {
  if (inputs.metadata.debugNan.isNull() || inputs.options.dryRun ||
      !inputs.options.trains())
    return Status::success();
  return assign(NanHunt::create(*opened, inputs.metadata.debugNan), hunt);
}

Status RankPart::loadCheckpoint(ResumePoint &point) {
  inputs.faults.sleepIf(Fault::Kind::SlowLoad, 1, consensus.rank());
  return inputs.options.dryRun ? point.manifest.verifyFiles(point.directory)
                               : weft::loadCheckpoint(*opened, point);
}

Status RankPart::loadWeights(WeightSource &weights, int64_t seed) {
  return inputs.options.dryRun ? weights.verify(consensus.rank())
                               : weights.load(*opened, seed);
}

Status RankPart::completeState(bool resumed) {
  if (resumed) {
    auto change = adaptLossScale(*opened, LossScaler::of(inputs.executable));
    if (!change)
      return change.takeError();
    if (*change && consensus.rank() == 0)
      warn(**change);
  }
  // Working copies of parameters are not in checkpoints or weight files.
  const WeftProgram *refresh = opened->findProgram(names::kRefresh);
  Status refreshed =
      refresh ? runChecked(*opened, *refresh) : Status::success();
  if (!refreshed)
    leave();
  return refreshed;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static Status writeTrace(const Trace &trace, const std::string &path,
                         const std::string &name) {
  if (Status s = trace.write(path, name); !s)
    return s;
  if (trace.dropped() > 0)
    warn("the trace is full: it lacks the last " +
         countText(trace.dropped(), "command"));
  return Status::success();
}

Expected<ExitCode> RankPart::train(const TrainState &state, const DataSet &data,
                                   const SavePolicy *policy,
                                   const RunRecord &record, Journal &journal,
                                   const StopRequest &signals) {
  std::optional<CheckpointWriter> writer;
  if (policy)
    writer.emplace(*opened, inputs.metadata, record, *policy, inputs.faults,
                   consensus);
  std::optional<Trace> trace;
  if (!inputs.options.trace.empty() && consensus.rank() == 0)
    trace.emplace(*opened);
  Trainer trainer(
      {*opened, data, consensus, journal, signals, writer ? &*writer : nullptr},
      inputs, state, std::move(hunt));
  auto code = trainer.run();
  lostText = trainer.hasLostText();
  if (!code || !trace)
    return code;
  const auto heartbeats = consensus.sendHeartbeats();
  if (Status s = writeTrace(*trace, inputs.options.trace, inputs.metadata.name);
      !s)
    return s.takeError();
  return code;
}

Expected<std::optional<EvalReport>> RankPart::evaluate(const DataSet &data) {
  return weft::evaluate(
      *opened, inputs.metadata, *data.val,
      EvalPlan(inputs.metadata, data.val->rows(), inputs.options.evalSteps));
}

Expected<bool> RankPart::predict(const DataSet &data, const RowSink &sink) {
  return weft::predictRows(*opened, inputs.metadata, *data.train, sink);
}

Status RankPart::sampleIds(int64_t seed, const IdReader &reader) {
  Status done =
      generateIds(*opened, inputs.metadata, inputs.options, seed, reader);
  if (!done)
    leave();
  return done;
}

Expected<SampledText> RankPart::sample(int64_t seed, const TextReader &reader) {
  auto text = generateText(*opened, inputs.metadata, inputs.options, seed,
                           /*signals=*/nullptr, reader);
  if (!text)
    leave();
  return text;
}
