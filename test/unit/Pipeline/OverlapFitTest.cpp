//===- OverlapFitTest.cpp - The cost of hidden collectives ----------------===//

#include "CompileTo.h"

#include "weft/Base/OutputFile.h"
#include "weft/Pipeline/Simulate/OverlapFit.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Support/HelperProgram.h"

namespace weft {
namespace {

class OverlapFit : public testing::Test {
protected:
  void SetUp() override {
    mlir::registerPassManagerCLOptions();
    auto made = makeHelperFolder("overlap-fit");
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    table.target = "cpu";
    table.links[""] = {3.0, 10.0};
    table.overlap.slowsCompute = 0.1;
    table.overlap.beginUs = 5;
  }

  /// Two plans whose waits are exact if collectives that overlap with
  /// computation take `us` longer.
  void makePlans(double us) {
    CostTable longer = table;
    longer.overlap.besideUs = us;
    const std::string path = folder->path() + "/longer.toml";
    ASSERT_EQ(errorOf(writeFile(path, writeCostTable(longer, {}))), "");
    plans.clear();
    for (const char *zero : {"--zero=1", "--zero=3"}) {
      auto plan =
          TimedPlan::compile(WEFT_SOURCE "/examples/gpt2-mini",
                             {"--batch=2", "--seq=32", "--mesh=dp:2", zero});
      ASSERT_TRUE(plan) << plan.error().message();
      auto exposed = plan->estimateExposedUs(path);
      ASSERT_TRUE(exposed) << exposed.error().message();
      plans.push_back({std::move(*plan), *exposed});
    }
  }

  double find() {
    auto us = findBesideUs(table, plans, folder->path());
    EXPECT_TRUE(us);
    return us ? *us : -1;
  }

  std::optional<Temporary> folder;
  CostTable table;
  std::vector<ExposedPlan> plans;
};

TEST_F(OverlapFit, FindsWhatPlansWereTimedWith) {
  for (double us : {150.0, 400.0, 5000.0}) {
    makePlans(us);
    // A file has four digits.
    EXPECT_NEAR(find(), us, us * 1e-3 + 0.2);
  }
}

TEST_F(OverlapFit, IsZeroWherePlansWaitLonger) {
  makePlans(0);
  for (ExposedPlan &each : plans)
    each.us /= 2;
  EXPECT_NEAR(find(), 0, 0.1);
  plans.clear();
  EXPECT_EQ(find(), 0);
}

TEST_F(OverlapFit, RefusesWhatNothingWaitsAsLongAs) {
  makePlans(0);
  plans.front().us = 1e15;
  auto us = findBesideUs(table, plans, folder->path());
  ASSERT_FALSE(us);
  EXPECT_EQ(us.error().code(), ExitCode::Communication);
  EXPECT_NE(us.error().message().find("of 2 programs, more than any cost"),
            std::string::npos)
      << us.error().message();
}

TEST_F(OverlapFit, SaysWhatIsWrong) {
  makePlans(10);
  auto us = findBesideUs(table, plans, folder->path() + "/none");
  ASSERT_FALSE(us);
  EXPECT_NE(us.error().message().find("no such file"), std::string::npos);
  auto plan = TimedPlan::compile(kModel, {"--bogus"});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message().find("--bogus"), std::string::npos);
  auto exposed =
      plans.front().plan.estimateExposedUs(folder->path() + "/none.toml");
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message().find("a readable cost table"),
            std::string::npos)
      << exposed.error().message();
}

} // namespace
} // namespace weft
