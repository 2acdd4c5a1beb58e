//===- ReportElectionTest.cpp - The process that reports a failure --------===//

#include "weft/Runtime/Run/RunRanks.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <random>
#include <thread>

using namespace weft;

namespace {

using Clock = std::chrono::steady_clock;

static Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(count));
}

/// Notices of all ranks, which take a moment to arrive.
class Board {
public:
  explicit Board(double latency) : latency(seconds(latency)) {}
  void send(int rank, FailureNotice notice) {
    std::lock_guard<std::mutex> lock(mutex);
    sent.try_emplace({rank, notice}, Clock::now());
  }
  bool hasArrived(int rank, FailureNotice notice) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = sent.find({rank, notice});
    return found != sent.end() && Clock::now() >= found->second + latency;
  }

private:
  const Clock::duration latency;
  std::mutex mutex;
  std::map<std::pair<int, FailureNotice>, Clock::time_point> sent;
};

/// Sends nothing but notices.
class NoticeTransport final : public Transport {
public:
  NoticeTransport(Board &board, int rank, std::vector<int> names)
      : Transport(rank, std::move(names)), board(board) {}
  void notify(FailureNotice notice) override { board.send(rank(), notice); }
  bool hasNotified(int rank, FailureNotice notice) override {
    return rank != this->rank() && board.hasArrived(rank, notice);
  }

private:
  Status exchangeAll(const char *const *, char *const *, int64_t,
                     std::string_view) override {
    return Error(ExitCode::Internal, "expects notices");
  }
  Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &) override {
    return Error(ExitCode::Internal, "expects notices");
  }
  Board &board;
};

/// How a rank fails.
struct Failure {
  int rank;
  Absence absence;
  double after = 0;   // seconds
  bool isOwn = false; // it ends with an error of its own
  bool wins = false;  // the result
};

/// Lets ranks fail, of which others may be dead: the ranks that report.
static std::vector<int> elect(int ranks, std::vector<Failure> failures,
                              double latency = 0.01) {
  Board board(latency);
  std::vector<int> names;
  for (int rank = 0; rank < ranks; ++rank)
    names.push_back(rank);
  std::vector<std::thread> threads;
  for (Failure &each : failures)
    threads.emplace_back([&] {
      VotingConsensus processes(
          std::make_unique<NoticeTransport>(board, each.rank, names));
      std::this_thread::sleep_for(seconds(each.after));
      each.wins = each.isOwn || ReportElection(processes).wins(each.absence);
      processes.notify(FailureNotice::Ended);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<int> winners;
  for (const Failure &each : failures)
    if (each.wins)
      winners.push_back(each.rank);
  return winners;
}

static Absence silent(std::vector<int> ranks) {
  return {std::move(ranks), /*haveLeft=*/false};
}
static Absence left(std::vector<int> ranks) {
  return {std::move(ranks), /*haveLeft=*/true};
}
using Ranks = std::vector<int>;

TEST(ReportElection, ElectsTheLowestOfThoseThatMissADeadRank) {
  EXPECT_EQ(elect(3, {{0, silent({2})}, {1, silent({2})}}), Ranks{0});
  EXPECT_EQ(elect(3, {{2, silent({0})}, {1, silent({0})}}), Ranks{1});
}

TEST(ReportElection, ElectsOneOfRanksThatMissEachOther) {
  EXPECT_EQ(elect(2, {{0, silent({1})}, {1, silent({0})}}), Ranks{0});
  EXPECT_EQ(elect(3, {{0, silent({1, 2})}, {1, silent({0})}, {2, silent({0})}}),
            Ranks{0});
}

TEST(ReportElection, ElectsOneOfRanksWithDifferentCollectives) {
  EXPECT_EQ(elect(4, {{0, {}}, {1, {}}, {2, {}}, {3, {}}}), Ranks{0});
}

// Rank 0 waits for rank 1, which waits for the dead rank 3.
TEST(ReportElection, ElectsTheRankThatMissesTheCause) {
  EXPECT_EQ(
      elect(4,
            {{0, silent({1})}, {1, silent({3}), 0.2}, {2, silent({3}), 0.3}}),
      Ranks{1});
}

TEST(ReportElection, RanksThatFollowDoNotReport) {
  EXPECT_EQ(elect(3, {{2, {}}, {0, left({2}), 0.05}, {1, left({2}), 0.1}}),
            Ranks{2});
  // The cause ends with its own error and without an election.
  EXPECT_EQ(elect(3, {{2, {}, 0.3, /*isOwn=*/true}, {0, left({2})}}), Ranks{2});
}

TEST(ReportElection, ReportsThatARankHasLeftWhereNobodyElseReports) {
  EXPECT_EQ(elect(2, {{0, left({1})}}), Ranks{0});
}

/// Ranks that fail: all miss one, which is dead or misses another one; some
/// have different collectives, some follow the first.
static std::vector<Failure> randomFailures(std::minstd_rand &random,
                                           int ranks) {
  const int missing = int(random() % ranks);
  const bool isDead = ranks == 2 || random() % 2;
  std::vector<Failure> failures;
  for (int rank = 0; rank < ranks; ++rank) {
    Failure failure = {rank, silent({missing}), double(random() % 1000) / 1000};
    if (rank == missing && isDead)
      continue;
    if (rank == missing)
      failure.absence = silent({(missing + 1) % ranks});
    else if (!failures.empty() && random() % 3 == 0)
      failure = {rank, left({failures.front().rank}),
                 failures.front().after + 0.05};
    else if (!isDead && random() % 4 == 0)
      failure.absence = {};
    failures.push_back(failure);
  }
  return failures;
}

// Causes, moments and times of arrival at random: one rank reports. Few run at
// once, since notices have to arrive in time.
TEST(ReportElection, ElectsOneRankWheneverTheyFail) {
  for (unsigned batch = 0; batch < 4; ++batch) {
    std::vector<std::thread> runs;
    for (unsigned seed = 8 * batch; seed < 8 * batch + 8; ++seed)
      runs.emplace_back([seed] {
        std::minstd_rand random(seed + 1);
        const int ranks = 2 + int(random() % 4);
        const double latency = double(random() % 50) / 1000;
        const auto winners =
            elect(ranks, randomFailures(random, ranks), latency);
        EXPECT_EQ(winners.size(), 1u) << "seed " << seed;
      });
    for (std::thread &run : runs)
      run.join();
  }
}

} // namespace
