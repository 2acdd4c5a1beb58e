//===- EvalPlanTest.cpp - Batches of an evaluation ------------------------===//

#include "weft/Runtime/Run/Evaluate.h"

#include <gtest/gtest.h>

using namespace weft;

namespace {

Metadata model(int64_t batch, bool rowMean) {
  Metadata metadata;
  metadata.batch = batch;
  metadata.rowMean = rowMean;
  return metadata;
}

/// How often each row counts: a batch of weight w counts w / B times each of
/// its rows, copies included.
std::vector<double> countRows(const EvalPlan &plan, int64_t batch) {
  std::vector<double> counts(size_t(plan.available()), 0.0);
  for (int64_t i = 0; i < plan.size(); ++i) {
    const EvalBatch one = plan.at(i);
    for (int64_t k = 0; k < batch; ++k)
      counts[size_t(one.first + std::min(k, one.rows - 1))] +=
          double(one.weight) / double(batch);
  }
  return counts;
}

TEST(EvalPlan, countsEachRowOnce) {
  for (int64_t batch : {1, 2, 3, 4, 8, 16})
    for (int64_t rows = 1; rows < 40; ++rows) {
      const EvalPlan plan(model(batch, /*rowMean=*/true), rows, 0);
      EXPECT_EQ(plan.rows(), rows);
      EXPECT_FALSE(plan.isSample());
      for (double count : countRows(plan, batch))
        EXPECT_NEAR(count, 1, 1e-12) << batch << " of " << rows;
    }
}

TEST(EvalPlan, takesAtMostTwoMoreBatches) {
  EXPECT_EQ(EvalPlan(model(8, true), 16, 0).size(), 2);
  EXPECT_EQ(EvalPlan(model(8, true), 17, 0).size(), 3);
  EXPECT_EQ(EvalPlan(model(8, true), 23, 0).size(), 4);
  EXPECT_EQ(EvalPlan(model(8, true), 7, 0).size(), 7);
}

TEST(EvalPlan, countsBatchesByTheirRows) {
  EXPECT_EQ(EvalPlan(model(8, true), 16, 0).batches(), 2);
  EXPECT_EQ(EvalPlan(model(8, true), 17, 0).batches(), 3);
  EXPECT_EQ(EvalPlan(model(8, true), 23, 0).batches(), 3);
  EXPECT_EQ(EvalPlan(model(8, true), 7, 0).batches(), 1);
  EXPECT_EQ(EvalPlan(model(8, true), 23, 2).batches(), 2);
  EXPECT_EQ(EvalPlan(model(8, false), 23, 0).batches(), 2);
}

TEST(EvalPlan, leavesOutWhatIsNoMeanOfRows) {
  const EvalPlan plan(model(8, false), 23, 0);
  EXPECT_EQ(plan.rows(), 16);
  EXPECT_EQ(plan.available(), 23);
  EXPECT_FALSE(plan.isSample());
}

TEST(EvalPlan, knowsWhatIsASample) {
  EXPECT_TRUE(EvalPlan(model(8, true), 23, 1).isSample());
  EXPECT_TRUE(EvalPlan(model(8, true), 23, 2).isSample());
  EXPECT_FALSE(EvalPlan(model(8, true), 16, 2).isSample());
  EXPECT_EQ(EvalPlan(model(8, true), 23, 2).rows(), 16);
  EXPECT_EQ(EvalPlan(model(8, true), 23, 3).rows(), 23);
}

} // namespace
