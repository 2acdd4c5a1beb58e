//===- RankReportsTest.cpp - One report of a step from all ranks ----------===//

#include "RankToy.h"

#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Collectives/Transport.h"
#include "weft/Runtime/Run/Trainer.h"

using namespace weft;

namespace {

class RankReportsTest : public RankTest {
protected:
  /// Joins what each rank has; `body` sees the contexts afterwards.
  void join(std::vector<StepReport> &reports,
            const std::function<void(WeftContext &)> &body = {}) {
    const int ranks = int(reports.size());
    auto transports = connectLoopback(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        auto context = contextOf(rank, kToyRanks);
        RankConnections connections;
        connections.push_back(std::move(transports[size_t(rank)]));
        joinRanks(*context, std::move(connections));
        EXPECT_TRUE(joinReports(*context, reports[size_t(rank)]));
        if (body)
          body(*context);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
};

StepReport reportOf(double stepMs, double commMs, int64_t memory, double loss) {
  StepReport report;
  report.stepMs = stepMs;
  report.computeMs = stepMs - commMs;
  report.dataMs = 2 * loss;
  report.tokensPerSecond = 64 / stepMs * 1000;
  report.memoryBytes = memory;
  report.loss = loss;
  report.losses = {{"a", loss * loss}};
  report.metrics = {{"m", -loss}};
  report.ranks = RankReport{commMs, 500, 0, 0};
  return report;
}

// Rank 1 works for 90 ms and the others for 20 and 40: it is 60 behind.
TEST_F(RankReportsTest, LargestTimesAndMeansOfTheRest) {
  std::vector<StepReport> reports = {reportOf(100, 80, 1000, 1),
                                     reportOf(98, 8, 3000, 2),
                                     reportOf(128, 88, 2000, 6)};
  join(reports);
  for (const StepReport &report : reports) {
    EXPECT_EQ(report.stepMs, 128);
    EXPECT_DOUBLE_EQ(report.tokensPerSecond, 500);
    EXPECT_EQ(report.memoryBytes, 3000);
    EXPECT_EQ(report.loss, 3);
    EXPECT_DOUBLE_EQ(report.losses[0].second, 41 / 3.0);
    EXPECT_DOUBLE_EQ(report.metrics[0].second, -3);
    EXPECT_EQ(report.computeMs, 50);
    EXPECT_EQ(report.dataMs, 6);
    EXPECT_DOUBLE_EQ(report.ranks->commMs, 176 / 3.0);
    EXPECT_EQ(report.ranks->commBytes, 500);
    EXPECT_EQ(report.ranks->slowest, 1);
    EXPECT_EQ(report.ranks->lagMs, 60);
  }
}

// Of ranks with equal times the first is named.
TEST_F(RankReportsTest, NoneLagsWhereAllAreAlike) {
  std::vector<StepReport> reports(2, reportOf(10, 5, 1, 1));
  join(reports);
  EXPECT_EQ(reports[1].ranks->slowest, 0);
  EXPECT_EQ(reports[1].ranks->lagMs, 0);
}

// Collectives outside of programs do not count as their costs.
TEST_F(RankReportsTest, CostsAreThoseOfPrograms) {
  std::vector<StepReport> reports(2, reportOf(10, 5, 1, 1));
  join(reports, [](WeftContext &context) {
    EXPECT_EQ(costOf(context, Collective::Numbers).calls, 1);
    EXPECT_EQ(costOfPrograms(context).calls, 0);
    EXPECT_EQ(costText(context), "");
    float own[4] = {}, all[8];
    Communicator &ranks = *findRanks(context, 0);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(ranks.allGather(own, all, sizeof own, "a gather"));
    EXPECT_TRUE(
        ranks.allGather(own, all, sizeof own, "a sum", Collective::AllReduce));
    EXPECT_EQ(costOfPrograms(context).calls, 4);
    EXPECT_EQ(costOfPrograms(context).bytes, 64);
    const std::string text = costText(context);
    EXPECT_EQ(text.find("all_gather 3 calls, 48 B sent, "), 0u) << text;
    EXPECT_NE(text.find(" ms; all_reduce 1 calls, 16 B sent, "),
              std::string::npos)
        << text;
    leaveRanks(context);
    EXPECT_EQ(costOfPrograms(context).calls, 0);
  });
}

} // namespace
