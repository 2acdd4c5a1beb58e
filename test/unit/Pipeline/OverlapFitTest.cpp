//===- OverlapFitTest.cpp - What hidden collectives cost ------------------===//

#include "Driver.h"

#include "weft/Pipeline/OverlapFit.h"
#include "weft/Schedule/CostTableFile.h"

#include <fstream>

namespace weft {
namespace {

CostTable makeTable() {
  CostTable table;
  table.links[""] = {3.0, 10.0};
  table.overlap.slowsCompute = 0.1;
  table.overlap.beginUs = 5;
  return table;
}

/// Two plans, with what each waits by a table.
std::vector<ExposedPlan> makePlans(const CostTable &table) {
  mlir::registerPassManagerCLOptions();
  const std::string path = testing::TempDir() + "/overlap-costs.toml";
  std::ofstream(path) << writeCostTable(table, {});
  std::vector<ExposedPlan> plans;
  for (const char *zero : {"--zero=1", "--zero=3"}) {
    auto plan =
        TimedPlan::compile(WEFT_SOURCE "/examples/gpt2-mini",
                           {"--batch=2", "--seq=32", "--mesh=dp:2", zero});
    EXPECT_TRUE(plan) << plan.error().message();
    plans.push_back({std::move(*plan)});
    auto us = plans.back().plan.estimateExposedUs(path);
    EXPECT_TRUE(us);
    plans.back().us = *us;
  }
  return plans;
}

double findBeside(std::vector<ExposedPlan> &plans) {
  auto us = findBesideUs(makeTable(), plans, testing::TempDir());
  EXPECT_TRUE(us);
  return us ? *us : -1;
}

TEST(OverlapFit, FindsWhatPlansWereTimedWith) {
  for (double us : {150.0, 400.0, 5000.0}) {
    CostTable table = makeTable();
    table.overlap.besideUs = us;
    std::vector<ExposedPlan> plans = makePlans(table);
    // A file has four digits.
    EXPECT_NEAR(findBeside(plans), us, us * 1e-3 + 0.2);
  }
}

TEST(OverlapFit, IsZeroWherePlansWaitLonger) {
  std::vector<ExposedPlan> plans = makePlans(makeTable());
  for (ExposedPlan &each : plans)
    each.us /= 2;
  EXPECT_NEAR(findBeside(plans), 0, 0.1);
  std::vector<ExposedPlan> none;
  EXPECT_EQ(findBeside(none), 0);
}

} // namespace
} // namespace weft
