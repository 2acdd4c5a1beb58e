//===- Heartbeats.cpp - Heartbeats between ranks --------------------------===//

#include "weft/Runtime/Collectives/Heartbeats.h"

#include <algorithm>
#include <atomic>
#include <vector>

using namespace weft;

Heartbeats::~Heartbeats() = default;

namespace {
class ThreadHeartbeats final : public Heartbeats {
public:
  explicit ThreadHeartbeats(int ranks) : counts(size_t(ranks)) {}
  void send(int rank) override { ++counts[size_t(rank)]; }
  int64_t count(int rank) override { return counts[size_t(rank)]; }

private:
  std::vector<std::atomic<int64_t>> counts;
};
} // namespace

std::shared_ptr<Heartbeats> weft::makeThreadHeartbeats(int ranks) {
  return std::make_shared<ThreadHeartbeats>(ranks);
}

HeartbeatSender::HeartbeatSender(std::shared_ptr<Heartbeats> all, int rank,
                                 double timeout)
    : heartbeats(std::move(all)), rank(rank), pause(std::min(1.0, timeout / 4)),
      thread([this] { run(); }) {}

HeartbeatSender::~HeartbeatSender() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  ended.notify_one();
  thread.join();
  (void)heartbeats->count(rank);
}

void HeartbeatSender::run() {
  std::unique_lock<std::mutex> lock(mutex);
  do {
    heartbeats->send(rank);
    // Reads the heartbeats of others, which no other thread may do for long.
    (void)heartbeats->count(rank);
  } while (!ended.wait_for(lock, pause, [&] { return isOver; }));
}
