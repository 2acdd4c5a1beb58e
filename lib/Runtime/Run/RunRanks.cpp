//===- RunRanks.cpp - The rank parts that a process runs ------------------===//

#include "weft/Runtime/Run/RunRanks.h"

#include "weft/Abi/TransferRecords.h"
#include "weft/Base/OutOfMemory.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

using namespace weft;

/// A rank part with its connections to other ranks and its thread.
struct Ranks::Member {
  Member(const RunInputs &inputs, std::unique_ptr<Transport> votes,
         RankConnections steps, StreamConnections streams)
      : consensus(std::move(votes)),
        part(inputs, consensus, std::move(steps), std::move(streams)) {}

  VotingConsensus consensus;
  RankPart part;

  std::thread thread; // of several ranks
  std::mutex mutex;
  std::condition_variable changed;
  const Work *work = nullptr; // given and not done yet
  bool isOver = false;
  Status result;

  /// Ranks that did not reach a vote or a collective of this rank.
  Absence absence() const {
    const Absence &ofVotes = consensus.absence();
    return ofVotes.ranks.empty() ? part.absence() : ofVotes;
  }
  void loop();
  void give(const Work &next);
  Status take();
};

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// No exception leaves a thread. The other ranks are notified that this rank
/// has left; otherwise they would wait for it until the timeout.
static Status guarded(const Ranks::Work &work, RankPart &part) {
  try {
    return work(part);
  } catch (const std::exception &failure) {
    part.leave();
    return errorOf(failure);
  }
}

void Ranks::Member::loop() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return work || isOver; });
    if (!work)
      break;
    lock.unlock();
    Status done = guarded(*work, part);
    lock.lock();
    result = std::move(done);
    work = nullptr;
    changed.notify_all();
  }
  // The thread team of the device ends with this thread.
  part.close();
}

void Ranks::Member::give(const Work &next) {
  std::lock_guard<std::mutex> lock(mutex);
  work = &next;
  changed.notify_all();
}

Status Ranks::Member::take() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return !work; });
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

Ranks::Ranks(const RunInputs &inputs) : inputs(inputs) {}

Ranks::~Ranks() {
  for (const std::unique_ptr<Member> &member : members) {
    if (!member->thread.joinable())
      continue;
    {
      std::lock_guard<std::mutex> lock(member->mutex);
      member->isOver = true;
      member->changed.notify_all();
    }
    member->thread.join();
  }
}

static std::vector<int> meshOf(const Metadata &metadata) {
  std::vector<int> mesh;
  for (const MeshAxis &axis : metadata.mesh)
    mesh.push_back(int(axis.ranks));
  return mesh;
}

/// Connects the processes for votes, and creates the single rank of this one.
Status Ranks::startProcess() {
  auto all = inputs.process->connect();
  all->setTimeout(inputs.options.timeout);
  std::unique_ptr<Transport> further[2];
  for (std::unique_ptr<Transport> &each : further)
    if (Status s = assign(all->split(0), each); !s)
      return s;
  const std::vector<int> mesh = meshOf(inputs.metadata);
  StreamConnections streams;
  for (int64_t stream : kCollectiveStreams) {
    auto own = all->split(0);
    auto along = own ? connectAlong(mesh, std::move(*own))
                     : Expected<RankConnections>(own.takeError());
    if (!along)
      return along.takeError();
    streams[stream] = std::move(*along);
  }
  auto steps = connectAlong(mesh, std::move(all));
  if (!steps)
    return steps.takeError();
  processes = std::make_unique<VotingConsensus>(std::move(further[0]));
  members.push_back(std::make_unique<Member>(
      inputs, std::move(further[1]), std::move(*steps), std::move(streams)));
  return Status::success();
}

Status Ranks::start() {
  if (inputs.process)
    return startProcess();
  const int ranks = int(inputs.ranks());
  const std::vector<int> mesh = meshOf(inputs.metadata);
  auto votes = connectLoopback(ranks);
  auto prepare = [&](RankConnections &connections, int rank) {
    for (const std::unique_ptr<Transport> &each : connections) {
      each->setTimeout(inputs.options.timeout);
      each->setHeartbeats(votes[rank]->heartbeats());
    }
    return std::move(connections);
  };
  auto steps = connectThreads(mesh);
  std::map<int64_t, std::vector<RankConnections>> streams;
  for (int64_t stream : kCollectiveStreams)
    streams[stream] = connectThreads(mesh);
  for (int rank = 0; rank < ranks; ++rank) {
    votes[rank]->setTimeout(inputs.options.timeout);
    StreamConnections own;
    for (auto &[stream, all] : streams)
      own[stream] = prepare(all[rank], rank);
    RankConnections ofSteps = prepare(steps[rank], rank);
    members.push_back(std::make_unique<Member>(
        inputs, std::move(votes[rank]), std::move(ofSteps), std::move(own)));
  }
  if (ranks > 1)
    for (const std::unique_ptr<Member> &member : members)
      member->thread = std::thread([&own = *member] { own.loop(); });
  return Status::success();
}

const RankPart &Ranks::first() const { return members.front()->part; }

Status Ranks::run(Member &member, const Work &work) {
  if (!member.thread.joinable())
    return work(member.part);
  member.give(work);
  return member.take();
}

std::unique_ptr<HeartbeatSender> Ranks::sendHeartbeats() {
  return processes ? processes->sendHeartbeats() : nullptr;
}

Status Ranks::inTurn(const Work &work) {
  const auto heartbeats = sendHeartbeats();
  for (const std::unique_ptr<Member> &member : members)
    if (Status s = run(*member, work); !s)
      return s;
  return Status::success();
}

Status Ranks::together(const Work &work) {
  if (members.size() == 1)
    return run(*members.front(), work);
  for (const std::unique_ptr<Member> &member : members)
    member->give(work);
  Status worst;
  for (const std::unique_ptr<Member> &member : members) {
    Status s = member->take();
    if (s)
      continue;
    const int more = severityOf(s.error().code()) -
                     (worst ? -1 : severityOf(worst.error().code()));
    if (more > 0 || (more == 0 && member->consensus.isReason()))
      worst = std::move(s);
  }
  return worst;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

/// The error of a rank that other ranks did not reach in time. Processes cannot
/// vote any more, so each one ends by itself. The launcher ends all processes
/// when one has ended, so a rank that does not report the failure waits for the
/// report of another one.
Error Ranks::alone(Error error) {
  // The election has taken place for an inner part of the run.
  if (reportsFailure)
    return error.saidBy(*reportsFailure);
  Absence absence = members.front()->absence();
  if (absence.ranks.empty())
    absence = processes->absence();
  members.front()->part.leave();
  const ReportElection election(*processes);
  reportsFailure = election.wins(absence);
  if (!*reportsFailure)
    election.awaitReport();
  return error.saidBy(*reportsFailure);
}

Expected<std::vector<std::string>> Ranks::reach(Status own, std::string text) {
  if (!processes) {
    if (!own)
      return own.takeError();
    return std::vector<std::string>{std::move(text)};
  }
  // The error was settled before.
  if (!own && own.error().isOfAllProcesses())
    return own.takeError();
  if (!own && own.error().code() == ExitCode::Communication)
    return alone(own.takeError());
  Vote vote = voteAt({Place::Part, ++parts}, own, std::move(text));
  vote.isReason = !own && members.front()->consensus.isReason();
  Decision all = processes->reach(vote);
  if (!all.failed())
    return std::move(all.texts);
  Error error = errorOf(all, *processes, std::move(own));
  if (all.failure == ExitCode::Communication)
    return alone(std::move(error));
  const bool reports = all.rank == processes->rank();
  // Ranks that have not voted hold an election; tell them of this report.
  if (reports && !processes->absence().ranks.empty())
    processes->notify(FailureNotice::Reports);
  return error.saidBy(reports).ofAllProcesses();
}

Status Ranks::settle(Status own) {
  auto said = reach(std::move(own), "");
  return said ? Status::success() : Status(said.takeError());
}

//===- The rank that reports a failure ------------------------------------===//

/// Seconds in which a rank that another one waits for sends a notice, if it is
/// alive and waits itself.
static constexpr double kWaiting = 0.5;
/// Seconds by which ranks notice the same failure at different times.
static constexpr double kSkew = 1.5;
/// Seconds by which a rank waits longer than the one before it; all together.
static constexpr double kTurn = 0.2, kTurns = 1.0;
/// Seconds in which a notice arrives: nearly always, and under load.
static constexpr double kSoon = 0.05, kArrival = 0.2;
/// Seconds in which a rank that has found a failure sends Reports.
static constexpr double kElection =
    kWaiting + kSkew + kSoon + kTurns + kArrival;

/// Seconds from Reports until a rank has released its device and has left the
/// communicator; from then to the report, which may come later.
static constexpr double kRelease = 5.0, kReport = 0.3;
/// Seconds to the report of a rank that fails without an election.
static constexpr double kOwnReport = 1.0;

using Clock = std::chrono::steady_clock;

/// Whether the condition holds within so many seconds.
static bool await(double seconds, const std::function<bool()> &condition) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (Clock::now() >= end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

static bool isOneOf(const std::vector<int> &ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Whether the notice of one of the ranks has come.
bool ReportElection::hears(FailureNotice notice,
                           const std::vector<int> &ranks) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
    return processes.hasNotified(rank, notice);
  });
}

bool ReportElection::hearsReport() const {
  for (int rank = 0; rank < processes.ranks(); ++rank)
    if (processes.hasNotified(rank, FailureNotice::Reports))
      return true;
  return false;
}

/// Whether another rank reports the failure: one of the election, or one of
/// `left`, which reports its own error and ends without an election.
bool ReportElection::isReported(const std::vector<int> &left) const {
  return await(kElection, [&] {
    return hearsReport() || hears(FailureNotice::Ended, left);
  });
}

/// Whether a missing rank waits for another one itself: that one is the cause.
bool ReportElection::waitsForSender(const std::vector<int> &missing) const {
  return !missing.empty() && await(kWaiting, [&] {
    return hears(FailureNotice::Failed, missing) ||
           hears(FailureNotice::Follows, missing);
  });
}

/// Lower ranks that have found a failure.
int ReportElection::countContenders(const std::vector<int> &missing) const {
  int contenders = 0;
  for (int rank = 0; rank < processes.rank(); ++rank)
    contenders += !isOneOf(missing, rank) &&
                  processes.hasNotified(rank, FailureNotice::Failed);
  return contenders;
}

/// Waits so many seconds, and for the turns of lower ranks. Whether none has
/// sent Reports.
bool ReportElection::awaitTurn(const std::vector<int> &missing,
                               double seconds) const {
  const auto begin = Clock::now();
  if (processes.rank() > 0)
    seconds += kSoon;
  await(seconds + kTurns, [&] {
    const double turns = std::min(kTurn * countContenders(missing), kTurns);
    const std::chrono::duration<double> passed = Clock::now() - begin;
    return hearsReport() || passed.count() >= seconds + turns;
  });
  return !hearsReport();
}

/// Whether no lower rank has sent Reports at the same time.
bool ReportElection::sendReport() const {
  processes.notify(FailureNotice::Reports);
  std::vector<int> lower;
  for (int rank = 0; rank < processes.rank(); ++rank)
    lower.push_back(rank);
  return !await(kArrival, [&] { return hears(FailureNotice::Reports, lower); });
}

/// Whether a rank that reports has left the communicator.
bool ReportElection::hasReported() const {
  for (int rank = 0; rank < processes.ranks(); ++rank)
    if (processes.hasNotified(rank, FailureNotice::Reports) &&
        processes.hasNotified(rank, FailureNotice::Ended))
      return true;
  return false;
}

void ReportElection::awaitReport() const {
  const double release = hearsReport() ? kRelease : kOwnReport;
  if (await(release, [&] { return hasReported(); }))
    std::this_thread::sleep_for(std::chrono::duration<double>(kReport));
}

bool ReportElection::wins(const Absence &absence) const {
  if (absence.haveLeft) {
    processes.notify(FailureNotice::Follows);
    if (isReported(absence.ranks))
      return false;
  }
  processes.notify(FailureNotice::Failed);
  const bool isCause = absence.haveLeft || !waitsForSender(absence.ranks);
  return awaitTurn(absence.ranks, isCause ? 0 : kSkew) && sendReport();
}
