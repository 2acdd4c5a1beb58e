//===- RankReports.cpp - One report of a step from all ranks --------------===//

#include "weft/Runtime/Run/RankReports.h"

#include "weft/Runtime/Collectives/RankNumbers.h"

#include <algorithm>

using namespace weft;

/// Indices of the numbers that a rank sends; its named losses follow.
enum Place : size_t {
  StepMs,
  ComputeMs,
  DataMs,
  CommMs,
  CommBytes,
  MemoryBytes,
  LostRows,
  Loss
};

static std::vector<double> numbersOf(const StepReport &report) {
  std::vector<double> numbers = {report.stepMs,
                                 report.computeMs,
                                 report.dataMs,
                                 report.ranks->commMs,
                                 double(report.ranks->commBytes),
                                 double(report.memoryBytes),
                                 double(report.ranks->lostRows),
                                 report.loss};
  for (const auto &[name, loss] : report.losses)
    numbers.push_back(loss);
  return numbers;
}

static double meanOf(const RankNumbers &all, size_t i) {
  return sumOverRanks(all, i) / double(all.size());
}

static double largestOf(const RankNumbers &all, size_t i) {
  double largest = all.front()[i];
  for (const std::vector<double> &ofRank : all)
    largest = std::max(largest, ofRank[i]);
  return largest;
}

/// The rank that worked the longest, and by how much longer than the mean of
/// the others. Time in collectives is no work, since ranks wait there.
static void findSlowest(const RankNumbers &all, RankReport &report) {
  double most = 0, sum = 0;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const double worked = all[rank][StepMs] - all[rank][CommMs];
    sum += worked;
    if (rank > 0 && worked <= most)
      continue;
    most = worked;
    report.slowest = int64_t(rank);
  }
  report.lagMs = std::max(0.0, most - (sum - most) / double(all.size() - 1));
}

Status weft::joinReports(WeftContext &context, StepReport &report) {
  auto all = gatherNumbers(context, numbersOf(report),
                           "the loss of step " + std::to_string(report.step));
  if (!all)
    return all.takeError();
  const double longest = largestOf(*all, StepMs);
  report.tokensPerSecond *= report.stepMs / longest;
  report.stepMs = longest;
  report.computeMs = meanOf(*all, ComputeMs);
  report.dataMs = meanOf(*all, DataMs);
  report.ranks->commMs = meanOf(*all, CommMs);
  report.ranks->commBytes = int64_t(largestOf(*all, CommBytes));
  report.memoryBytes = int64_t(largestOf(*all, MemoryBytes));
  report.ranks->lostRows = largestOf(*all, LostRows) != 0;
  report.loss = meanOf(*all, Loss);
  for (size_t i = 0; i < report.losses.size(); ++i)
    report.losses[i].second = meanOf(*all, Loss + 1 + i);
  findSlowest(*all, *report.ranks);
  return Status::success();
}
