//===- RunRanks.cpp - The rank parts that a process runs ------------------===//

#include "weft/Runtime/Run/RunRanks.h"

#include "weft/Abi/TransferRecords.h"
#include "weft/Base/OutOfMemory.h"
#include "weft/Runtime/Collectives/Loopback.h"
#include "weft/Runtime/Run/ReportElection.h"

#include <condition_variable>
#include <mutex>
#include <thread>

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
  for (std::unique_ptr<Transport> &each : further) {
    auto made = all->split(0);
    if (!made)
      return made.takeError();
    each = std::move(*made);
  }
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
