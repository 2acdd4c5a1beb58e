//===- Loopback.cpp - Ranks that are threads of one process ---------------===//
//
// An exchange has two barriers. After the first one all pieces are ready, and
// each rank copies its own from the memory of the others. After the second one
// no rank reads any more. An exchange fails before its first barrier completes
// or not at all, and for all ranks at once: a rank that gave up alone would
// free memory that another one reads.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>

using namespace weft;

namespace {

/// The shared state of the ranks of one communicator.
class LoopbackGroup {
public:
  /// `members` are global rank numbers, by rank.
  explicit LoopbackGroup(std::vector<int> members)
      : names(std::move(members)), slots(names.size()) {}

  /// Whether a rank that is waited for has sent a heartbeat.
  using HasHeartbeat = std::function<bool(int rank)>;

  /// Waits until every rank is in this exchange.
  Status open(int rank, const char *const *send, int64_t bytes,
              std::string_view title, double timeout,
              const HasHeartbeat &hasHeartbeat);
  /// Waits until every rank has read its pieces. It cannot fail: all threads
  /// are copying memory.
  void close();
  /// The piece of `from` for `to`; valid between open() and close().
  const char *piece(int from, int to) const {
    return slots[size_t(from)].send[to];
  }
  void leave(int rank);
  /// A group that `rank` has created. The rank sets it before open(); others
  /// take it between open() and close().
  std::shared_ptr<LoopbackGroup> &offer(int rank) {
    return slots[size_t(rank)].offer;
  }
  /// The ranks of this group that the failed exchange has waited for.
  std::vector<int> missing(bool &haveLeft) {
    std::lock_guard<std::mutex> lock(mutex);
    haveLeft = missingHaveLeft;
    return missingRanks;
  }

private:
  struct Slot {
    const char *const *send = nullptr;
    int64_t bytes = 0;
    std::string title;
    std::shared_ptr<LoopbackGroup> offer;
    bool isHere = false; // in the exchange that is not open yet
    bool hasLeft = false;
  };

  int nameOf(int rank) const { return names[size_t(rank)]; }
  void arrive();
  void failIfOneLeft();
  void failTimedOut(int rank, double timeout, ExchangeTimer &timer,
                    const HasHeartbeat &hasHeartbeat);
  void fail(Error error);

  const std::vector<int> names;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Slot> slots;
  size_t here = 0, finished = 0;  // of this exchange
  int64_t opened = 0, closed = 0; // exchanges
  std::optional<Error> failure;
  std::vector<int> missingRanks;
  bool missingHaveLeft = false;
};

class LoopbackTransport final : public Transport {
public:
  LoopbackTransport(std::shared_ptr<LoopbackGroup> shared, int rank,
                    std::vector<int> members)
      : Transport(rank, std::move(members)), group(std::move(shared)) {}
  ~LoopbackTransport() override { group->leave(rank()); }

private:
  Status exchangeAll(const char *const *send, char *const *receive,
                     int64_t bytes, std::string_view title) override;
  Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &colors) override;
  Status open(const char *const *send, int64_t bytes, std::string_view title);

  std::shared_ptr<LoopbackGroup> group;
};

} // namespace

//===- LoopbackGroup ------------------------------------------------------===//

Status LoopbackGroup::open(int rank, const char *const *send, int64_t bytes,
                           std::string_view title, double timeout,
                           const HasHeartbeat &hasHeartbeat) {
  std::unique_lock<std::mutex> lock(mutex);
  Slot &own = slots[size_t(rank)];
  own.send = send;
  own.bytes = bytes;
  own.title = title;
  own.isHere = true;
  const int64_t mine = opened;
  size_t seen = ++here;
  failIfOneLeft();
  if (!failure && here == slots.size())
    arrive();
  ExchangeTimer timer(timeout, int(slots.size()));
  while (opened == mine && !failure) {
    changed.wait_for(lock, timer.longestWait());
    if (opened != mine || failure)
      break;
    if (here != seen)
      timer.restart();
    seen = here;
    timer.pass();
    failTimedOut(rank, timeout, timer, hasHeartbeat);
  }
  if (opened == mine)
    return *failure;
  return Status::success();
}

/// All ranks are here: the exchange is open if they want the same one.
void LoopbackGroup::arrive() {
  const Slot &first = slots.front();
  for (size_t rank = 1; rank < slots.size(); ++rank)
    if (const Slot &slot = slots[rank];
        slot.bytes != first.bytes || slot.title != first.title)
      return fail(collectiveMismatchError(nameOf(0), first.title, first.bytes,
                                          nameOf(int(rank)), slot.title,
                                          slot.bytes));
  for (Slot &slot : slots)
    slot.isHere = false;
  here = 0;
  ++opened;
  changed.notify_all();
}

void LoopbackGroup::close() {
  std::unique_lock<std::mutex> lock(mutex);
  const int64_t mine = closed;
  if (++finished == slots.size()) {
    finished = 0;
    ++closed;
    changed.notify_all();
    return;
  }
  changed.wait(lock, [&] { return closed != mine; });
}

void LoopbackGroup::leave(int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  slots[size_t(rank)].hasLeft = true;
  failIfOneLeft();
}

void LoopbackGroup::failIfOneLeft() {
  if (failure || here == 0)
    return;
  std::string title;
  for (size_t rank = 0; rank < slots.size(); ++rank) {
    if (slots[rank].isHere)
      title = slots[rank].title;
    else if (slots[rank].hasLeft)
      missingRanks.push_back(int(rank));
  }
  missingHaveLeft = !missingRanks.empty();
  if (missingHaveLeft)
    fail(leftError(nameOf(missingRanks.front()), title));
}

/// Fails if missing ranks have sent no heartbeat for too long.
void LoopbackGroup::failTimedOut(int rank, double timeout, ExchangeTimer &timer,
                                 const HasHeartbeat &hasHeartbeat) {
  std::vector<int> silent, called;
  for (int other = 0; other < int(slots.size()); ++other) {
    if (slots[size_t(other)].isHere)
      continue;
    if (hasHeartbeat(other))
      timer.restart(other);
    if (timer.isTimedOut(other)) {
      silent.push_back(other);
      called.push_back(nameOf(other));
    }
  }
  if (silent.empty())
    return;
  missingRanks = silent;
  fail(missingError(nameOf(rank), called, slots[size_t(rank)].title, timeout));
}

void LoopbackGroup::fail(Error error) {
  failure = std::move(error);
  changed.notify_all();
}

//===- LoopbackTransport --------------------------------------------------===//

Status LoopbackTransport::open(const char *const *send, int64_t bytes,
                               std::string_view title) {
  Status status = group->open(rank(), send, bytes, title, timeout(),
                              [this](int peer) { return hasHeartbeat(peer); });
  if (status)
    return status;
  bool haveLeft = false;
  const std::vector<int> missing = group->missing(haveLeft);
  setAbsent(missing, haveLeft);
  return status;
}

Status LoopbackTransport::exchangeAll(const char *const *send,
                                      char *const *receive, int64_t bytes,
                                      std::string_view title) {
  if (Status s = open(send, bytes, title); !s)
    return s;
  // Ranks start with different peers, so that not all read the same memory.
  for (int i = 1; i < ranks() && bytes > 0; ++i) {
    const int peer = (rank() + i) % ranks();
    std::memcpy(receive[peer], group->piece(peer, rank()), size_t(bytes));
  }
  group->close();
  return Status::success();
}

/// The first rank of a color makes its group, and the others take it.
Expected<std::unique_ptr<Transport>>
LoopbackTransport::splitBy(const std::vector<int> &colors) {
  const int first =
      int(std::find(colors.begin(), colors.end(), colors[size_t(rank())]) -
          colors.begin());
  auto [members, number] = membersOf(colors);
  if (first == rank())
    group->offer(rank()) = std::make_shared<LoopbackGroup>(members);
  if (Status s = open(nullptr, 0, "the groups of a split"); !s)
    return s.takeError();
  std::shared_ptr<LoopbackGroup> part = group->offer(first);
  group->close();
  group->offer(rank()).reset();
  return std::unique_ptr<Transport>(std::make_unique<LoopbackTransport>(
      std::move(part), number, std::move(members)));
}

std::vector<std::unique_ptr<Transport>>
weft::connectLoopback(const std::vector<int> &members) {
  auto group = std::make_shared<LoopbackGroup>(members);
  std::vector<std::unique_ptr<Transport>> all;
  for (int rank = 0; rank < int(members.size()); ++rank)
    all.push_back(std::make_unique<LoopbackTransport>(group, rank, members));
  return all;
}

std::vector<std::unique_ptr<Transport>> weft::connectLoopback(int ranks) {
  std::vector<int> members(static_cast<size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  auto all = connectLoopback(members);
  auto heartbeats = makeThreadHeartbeats(ranks);
  for (const std::unique_ptr<Transport> &each : all)
    each->setHeartbeats(heartbeats);
  return all;
}
