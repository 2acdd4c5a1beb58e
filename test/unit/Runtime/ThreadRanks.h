//===- ThreadRanks.h - Ranks of a run as threads of a test ------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_RUNTIME_THREADRANKS_H
#define WEFT_TEST_UNIT_RUNTIME_THREADRANKS_H

#include "weft/Runtime/Collectives/Consensus.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace weft {

/// Where the threads meet.
class ThreadRanks {
public:
  explicit ThreadRanks(int ranks)
      : votes(size_t(ranks)), hasLeft(size_t(ranks), false) {}

  std::unique_ptr<Consensus> connect(int rank) {
    return std::make_unique<Connection>(*this, rank);
  }
  int64_t decisions() const { return round; }

  /// Runs `body` on a thread for each rank; an exception ends that rank.
  void run(const std::function<void(Consensus &)> &body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < int(votes.size()); ++rank)
      threads.emplace_back([this, &body, rank] {
        auto consensus = connect(rank);
        try {
          body(*consensus);
        } catch (const std::exception &) {
        }
      });
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  class Connection final : public Consensus {
  public:
    Connection(ThreadRanks &all, int number) : all(all), number(number) {}
    ~Connection() override { all.leave(number); }
    int rank() const override { return number; }
    int ranks() const override { return int(all.votes.size()); }
    Decision reach(const Vote &vote) override {
      return all.reach(number, vote);
    }

  private:
    ThreadRanks &all;
    const int number;
  };

  Decision reach(int rank, const Vote &vote) {
    std::unique_lock<std::mutex> lock(mutex);
    const int64_t mine = round;
    votes[size_t(rank)] = vote;
    decideIfComplete();
    decided.wait(lock, [&] { return round != mine; });
    return last;
  }
  void leave(int rank) {
    std::lock_guard<std::mutex> lock(mutex);
    hasLeft[size_t(rank)] = true;
    decideIfComplete();
  }
  void decideIfComplete() {
    std::vector<Vote> complete;
    bool isAnyoneThere = false;
    for (size_t rank = 0; rank < votes.size(); ++rank) {
      if (!votes[rank] && !hasLeft[rank])
        return;
      isAnyoneThere |= votes[rank].has_value();
      Vote gone;
      gone.failure = ExitCode::Communication;
      complete.push_back(votes[rank] ? *votes[rank] : gone);
    }
    if (!isAnyoneThere)
      return;
    last = decide(complete);
    votes.assign(votes.size(), std::nullopt);
    ++round;
    decided.notify_all();
  }

  std::mutex mutex;
  std::condition_variable decided;
  std::vector<std::optional<Vote>> votes; // of this round, by rank
  std::vector<bool> hasLeft;
  Decision last;
  int64_t round = 0;
};

} // namespace weft

#endif // WEFT_TEST_UNIT_RUNTIME_THREADRANKS_H
