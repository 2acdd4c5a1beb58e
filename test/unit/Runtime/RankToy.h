//===- RankToy.h - A program that several ranks of a test run ---*- C++ -*-===//
//
// Written by hand: a weight of three elements that every rank holds, and a
// moment of which each of three ranks holds one. Every rank sees the same rows,
// so that the weights stay equal without any collective. One with a loss scale
// multiplies gradients by it, halves it when one is not finite, and cannot go
// below 1/8.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RUNTIME_RANKTOY_H
#define WEFT_TEST_UNIT_RUNTIME_RANKTOY_H

#include "ThreadRanks.h"
#include "ToyTool.h"

#include "weft/Runtime/Run/Trainer.h"

#include <atomic>

namespace weft {

constexpr int kToyRanks = 3;

/// For 3 ranks or 1.
const WeftExecutable &rankToy(int ranks = kToyRanks, bool isScaled = false);

/// A row is a number that `ranks` rows in a row share; `fail` says what reading
/// one comes to.
class ToyRows : public DataSource {
public:
  using Fail = std::function<Status(int64_t row)>;
  ToyRows(int ranks, Fail fail) : ranks(ranks), fail(std::move(fail)) {}
  int64_t rows() const override { return 1000; }
  const std::string &path() const override {
    static const std::string none;
    return none;
  }
  std::string describe() const override { return "ones"; }
  Expected<DataIdentity> identity() const override { return DataIdentity(); }
  Status fill(const WeftPort &port, int64_t row, char *out) const override;
  void willNeed(const std::vector<int64_t> &) const override {}

private:
  int ranks;
  Fail fail;
};

/// A stop signal that one rank sees.
struct ToyStop : StopRequest {
  std::atomic<int> signal{0};
  int stopSignal() const override { return signal; }
};

/// The end of a rank.
struct RankEnd {
  int code = -1; // of the run, or of its error
  std::string error;
  int64_t step = -1;
};

/// Folder, flags and files of runs of such a program.
class RankTest : public ToyTest {
protected:
  RankTest();
  std::unique_ptr<WeftContext> contextOf(int rank, int ranks = kToyRanks);
  SavePolicy saves() const { return {path("saves"), 0, false, nullptr}; }
  /// Trains on a rank as `options` say; row numbers begin with 0 and every step
  /// reads one for each rank.
  RankEnd train(Consensus &consensus, const ToyRows::Fail &fail,
                const StopRequest &signals, bool isSaved = true);
  /// Trains on all ranks.
  std::vector<RankEnd>
  trainAll(const std::function<Status(int rank, int64_t step)> &fail,
           ToyStop (&signals)[kToyRanks], bool isSaved = true);
  /// The steps that are there and whole, "2 4 ", and what else there is.
  std::string stepsOf(const std::string &folder) const;

  Metadata metadata;
  RunOptions options;
  Faults faults;
};

} // namespace weft

#endif // WEFT_TEST_UNIT_RUNTIME_RANKTOY_H
