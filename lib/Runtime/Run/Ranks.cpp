//===- Ranks.cpp - The rank parts that a process runs ---------------------===//

#include "weft/Runtime/Run/Ranks.h"

#include "weft/Runtime/Collectives/Loopback.h"
#include "weft/Runtime/Collectives/Voting.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

using namespace weft;

/// A rank part, what connects it with the others, and its thread.
struct Ranks::Member {
  Member(const RunInputs &inputs, std::unique_ptr<Transport> votes,
         std::unique_ptr<Transport> steps)
      : agreement(std::move(votes)), part(inputs, agreement, std::move(steps)) {
  }

  VotingAgreement agreement;
  RankPart part;

  std::thread thread; // of several ranks
  std::mutex mutex;
  std::condition_variable changed;
  const Work *work = nullptr; // given and not done yet
  bool isOver = false;
  Status result;

  void loop();
  void give(const Work &next);
  Status take();
};

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// No exception leaves a thread.
static Status guarded(const Ranks::Work &work, RankPart &part) {
  try {
    return work(part);
  } catch (const std::bad_alloc &) {
    return Error(ExitCode::DoesNotFit, "the machine has no memory left");
  } catch (const std::exception &failure) {
    return Error(ExitCode::Internal, failure.what());
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
  // The team of this thread goes with it.
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

void Ranks::start() {
  const int ranks = int(inputs.metadata.ranks());
  auto votes = connectLoopback(ranks), steps = connectLoopback(ranks);
  for (auto *transports : {&votes, &steps})
    for (const std::unique_ptr<Transport> &transport : *transports)
      transport->setTimeout(inputs.options.timeout);
  for (int rank = 0; rank < ranks; ++rank)
    members.push_back(std::make_unique<Member>(inputs, std::move(votes[rank]),
                                               std::move(steps[rank])));
  if (ranks > 1)
    for (const std::unique_ptr<Member> &member : members)
      member->thread = std::thread([&own = *member] { own.loop(); });
}

const RankPart &Ranks::first() const { return members.front()->part; }

Status Ranks::run(Member &member, const Work &work) {
  if (!member.thread.joinable())
    return work(member.part);
  member.give(work);
  return member.take();
}

Status Ranks::onFirst(const Work &work) { return run(*members.front(), work); }

Status Ranks::inTurn(const Work &work) {
  for (const std::unique_ptr<Member> &member : members)
    if (Status s = run(*member, work); !s)
      return s;
  return Status::success();
}

Status Ranks::together(const Work &work) {
  if (members.size() == 1)
    return onFirst(work);
  for (const std::unique_ptr<Member> &member : members)
    member->give(work);
  Status worst;
  for (const std::unique_ptr<Member> &member : members) {
    Status s = member->take();
    if (s)
      continue;
    const int more = severityOf(s.error().code()) -
                     (worst ? -1 : severityOf(worst.error().code()));
    if (more > 0 || (more == 0 && member->agreement.isReason()))
      worst = std::move(s);
  }
  return worst;
}
