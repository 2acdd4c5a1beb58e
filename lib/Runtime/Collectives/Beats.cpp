//===- Beats.cpp - Signs of life of ranks ---------------------------------===//

#include "weft/Runtime/Collectives/Beats.h"

#include <algorithm>
#include <atomic>
#include <vector>

using namespace weft;

Beats::~Beats() = default;

namespace {
class ThreadBeats final : public Beats {
public:
  explicit ThreadBeats(int ranks) : counts(size_t(ranks)) {}
  void beat(int rank) override { ++counts[size_t(rank)]; }
  int64_t heard(int rank) override { return counts[size_t(rank)]; }

private:
  std::vector<std::atomic<int64_t>> counts;
};
} // namespace

std::shared_ptr<Beats> weft::makeThreadBeats(int ranks) {
  return std::make_shared<ThreadBeats>(ranks);
}

Beating::Beating(std::shared_ptr<Beats> all, int rank, double timeout)
    : beats(std::move(all)), rank(rank), pause(std::min(1.0, timeout / 4)),
      thread([this] { run(); }) {}

Beating::~Beating() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  ended.notify_one();
  thread.join();
  (void)beats->heard(rank);
}

void Beating::run() {
  std::unique_lock<std::mutex> lock(mutex);
  do {
    beats->beat(rank);
    // Takes those of others in: nobody else may wait for long.
    (void)beats->heard(rank);
  } while (!ended.wait_for(lock, pause, [&] { return isOver; }));
}
