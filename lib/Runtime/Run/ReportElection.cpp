//===- ReportElection.cpp - Which process reports a failure ---------------===//

#include "weft/Runtime/Run/ReportElection.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

using namespace weft;

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
