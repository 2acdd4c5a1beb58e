//===- EvalRanksTest.cpp - Validation rows that ranks share ---------------===//

#include "RankToy.h"
#include "ToyKernels.h"

#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Collectives/Transport.h"
#include "weft/Runtime/Run/Evaluate.h"

using namespace weft;

namespace {

constexpr int kRanks = 3, kBatch = 2;
const int64_t kTwo[] = {kBatch};

/// Two rows; their sum, and a term that is its square.
void eval(WeftContext *, const WeftCommand *, void *const *b) {
  const auto *x = static_cast<float *>(b[0]);
  *static_cast<float *>(b[1]) = x[0] + x[1];
  *static_cast<float *>(b[2]) = (x[0] + x[1]) * (x[0] + x[1]);
}

const WeftExecutable &program() {
  static const int64_t buffers[] = {0, 64, 128};
  static const WeftCommand command = toyCommand("eval", eval, buffers, 3);
  static const WeftPort in[] = {{"x", WEFT_F32, 1, kTwo, 0, 8}};
  static const WeftPort out[] = {{"loss", WEFT_F32, 0, nullptr, 64, 4},
                                 {"square", WEFT_F32, 0, nullptr, 128, 4}};
  static const WeftProgram eval = {"eval", "eval", &command, in, out, 1, 1, 2};
  static const WeftExecutable all = {
      WEFT_ABI_VERSION, 1, 0, 0, &eval, nullptr, 192, "", 0, nullptr, 0};
  return all;
}

/// Row r is r + 1; one of them may be gone.
struct Rows : DataSource {
  int64_t gone = -1;
  mutable std::vector<int64_t> read;

  int64_t rows() const override { return 100; }
  const std::string &path() const override {
    static const std::string none;
    return none;
  }
  std::string describe() const override { return "numbers"; }
  Expected<DataIdentity> identity() const override { return DataIdentity(); }
  void willNeed(const std::vector<int64_t> &) const override {}
  Status fill(const WeftPort &, int64_t row, char *out) const override {
    if (row == gone)
      return inputError("no rows left");
    const float number = float(row + 1);
    std::memcpy(out, &number, sizeof number);
    read.push_back(row);
    return Status::success();
  }
};

using Result = Expected<std::optional<EvalReport>>;

/// Evaluates on all ranks, each with rows of its own.
std::vector<std::unique_ptr<Result>> evaluateAll(int64_t batches,
                                                 Rows (&rows)[kRanks]) {
  Metadata metadata;
  metadata.batch = kBatch;
  metadata.mesh = {{"dp", kRanks}};
  auto transports = connectLoopback(kRanks);
  std::vector<std::unique_ptr<Result>> results(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      ContextOptions wanted;
      wanted.rank = rank;
      wanted.ranks = kRanks;
      wanted.threads = 1;
      std::string error;
      auto context = WeftContext::create(program(), wanted, error);
      ASSERT_TRUE(context) << error;
      RankConnections connections;
      connections.push_back(std::move(transports[size_t(rank)]));
      joinRanks(*context, std::move(connections));
      results[size_t(rank)] = std::make_unique<Result>(
          weft::evaluate(*context, metadata, rows[rank],
                         EvalPlan(metadata, rows[rank].rows(), batches)));
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

// Sums of batches 3, 7, 11, ...: any number of them, also fewer than ranks.
TEST(EvalRanks, EachTakesItsBatchesAndAllKnowTheMean) {
  for (int64_t batches : {1, 2, 3, 4, 7}) {
    Rows rows[kRanks];
    auto results = evaluateAll(batches, rows);
    double sum = 0, squares = 0;
    for (int64_t n = 0; n < batches; ++n) {
      sum += double(4 * n + 3);
      squares += double((4 * n + 3) * (4 * n + 3));
    }
    for (const auto &result : results) {
      ASSERT_TRUE(result->ok() && **result);
      EXPECT_DOUBLE_EQ((**result)->loss, sum / double(batches));
      ASSERT_EQ((**result)->losses.size(), 1u);
      EXPECT_EQ((**result)->losses[0].first, "square");
      EXPECT_DOUBLE_EQ((**result)->losses[0].second, squares / double(batches));
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      std::vector<int64_t> wanted;
      for (int64_t first = 0; first < batches; first += kRanks)
        for (int64_t row : {0, 1})
          wanted.push_back(
              (first + rank < batches ? first + rank : 0) * kBatch + row);
      EXPECT_EQ(rows[rank].read, wanted) << rank << " of " << batches;
    }
  }
}

// It goes through the evaluation with the others, which get no numbers.
TEST(EvalRanks, ARankWithoutItsRowsHasTheError) {
  Rows rows[kRanks];
  rows[1].gone = 9; // batch 4
  auto results = evaluateAll(9, rows);
  ASSERT_FALSE(*results[1]);
  EXPECT_EQ(results[1]->error().where(), "no rows left");
  for (int other : {0, 2}) {
    ASSERT_TRUE(results[size_t(other)]->ok());
    EXPECT_FALSE(results[size_t(other)]->operator*());
  }
}

} // namespace
