//===- MeasuredTraceTest.cpp - Traces of runs -----------------------------===//

#include "CompileTo.h"

#include "weft/Base/OutputFile.h"
#include "weft/Pipeline/Simulate/MeasuredTrace.h"
#include "weft/Support/HelperProgram.h"

namespace weft {
namespace {

/// A command of the program @micro that ran in a step: when it began, and for
/// how long it ran. A step takes 1000 us.
struct Ran {
  size_t command;
  double begin, us;
};

class MeasuredTrace : public testing::Test {
protected:
  void SetUp() override {
    auto made = makeHelperFolder("measured-trace");
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    // gemm; an exposed gather; a record; a gather that overlaps with the next
    // gemm; the wait for it.
    costs["micro"] = {makeGemm(),    makeGather(0), {"record", ""},
                      makeGather(1), makeGemm(),    {"wait", ""}};
  }

  static CostSample makeGemm() {
    CostSample gemm = {"gemm", "f32"};
    gemm.flops = 1000, gemm.bytes = 10;
    return gemm;
  }
  static CostSample makeGather(int64_t stream) {
    CostSample gather = {"all_gather", ""};
    gather.bytes = 100, gather.stream = stream, gather.isCollective = true;
    return gather;
  }

  /// Of a step `number`: everything is longer by `extra` us.
  static std::vector<Ran> makeStep(int number, double extra) {
    const double at = 1000 * number;
    return {{0, at, 100 + extra},       {1, at + 200, 40 + extra},
            {2, at + 300, 1},           {3, at + 310, 300},
            {4, at + 310, 100 + extra}, {5, at + 500, 60 + extra}};
  }

  std::string write(const std::vector<std::string> &events,
                    const std::string &other = "\"dropped\": 0") {
    std::string text = "{\"traceEvents\": [";
    for (size_t i = 0; i < events.size(); ++i)
      text += (i == 0 ? "" : ",\n") + events[i];
    text += "], \"otherData\": {" + other + "}}";
    std::string path = folder->path() + "/trace.json";
    EXPECT_EQ(errorOf(writeFile(path, text)), "");
    return path;
  }

  static std::string toText(const Ran &ran, int process = 0) {
    return "{\"ph\": \"X\", \"pid\": " + std::to_string(process) +
           ", \"cat\": \"micro\", \"ts\": " + std::to_string(ran.begin) +
           ", \"dur\": " + std::to_string(ran.us) +
           ", \"args\": {\"command\": " + std::to_string(ran.command) + "}}";
  }

  std::string writeSteps(int steps) {
    std::vector<std::string> events = {
        "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\"}"};
    for (int step = 0; step < steps; ++step)
      for (const Ran &ran : makeStep(step, step < 2 ? 50 : 0)) {
        events.push_back(toText(ran));
        // The planned time, as the other rank.
        events.push_back(toText({ran.command, ran.begin, 5000}, 1));
      }
    return write(events);
  }

  std::optional<Temporary> folder;
  std::map<std::string, std::vector<CostSample>> costs;
};

TEST_F(MeasuredTrace, LeavesOutTheFirstTwoSteps) {
  auto times = readMeasuredTrace(writeSteps(6), costs);
  ASSERT_TRUE(times) << times.error().message();
  ASSERT_EQ(times->samples.size(), 6u);
  EXPECT_DOUBLE_EQ(times->samples[0].us, 100);
  EXPECT_EQ(times->samples[0].kind, "gemm");
  EXPECT_DOUBLE_EQ(times->samples[3].us, 300);
  EXPECT_TRUE(times->samples[3].isCollective);
}

TEST_F(MeasuredTrace, TakesTheLeastProcessorTime) {
  costs["micro"] = {{"gemm", "f32", 1000, 10}};
  std::vector<std::string> events;
  // The first two runs do not count, though they use less.
  for (const char *used : {"1", "2", "50", "30.5", "40"}) {
    std::string event = toText({0, 1000.0 * double(events.size()), 900});
    event.insert(event.find(", \"args\""), std::string(", \"tdur\": ") + used);
    events.push_back(event);
  }
  auto times =
      readMeasuredTrace(write(events), costs, MeasuredClock::LeastOfThread);
  ASSERT_TRUE(times) << times.error().message();
  EXPECT_DOUBLE_EQ(times->samples[0].us, 30.5);
  // A device records none.
  auto missing = readMeasuredTrace(write({toText({0, 5, 7})}), costs,
                                   MeasuredClock::LeastOfThread);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("tdur"), std::string::npos)
      << missing.error().message();
}

TEST_F(MeasuredTrace, CountsWhatTheComputingStreamWaitsFor) {
  auto times = readMeasuredTrace(writeSteps(100), costs);
  ASSERT_TRUE(times) << times.error().message();
  // 100 + 60 + 9 + 90 us in a step lie between two commands of stream 0, but
  // 150 less in each of the first two; one record.
  EXPECT_NEAR(times->handOverUs, 259 - 2 * 150 / 100.0, 1e-9);
  // The gather on its stream, the record, the wait; not the hidden gather.
  EXPECT_NEAR(times->exposedUs, 40 + times->handOverUs + 60, 1e-9);
}

TEST_F(MeasuredTrace, HasNothingOfOneRank) {
  costs["micro"] = {makeGemm()};
  auto times = readMeasuredTrace(write({toText({0, 5, 7})}), costs);
  ASSERT_TRUE(times) << times.error().message();
  ASSERT_EQ(times->samples.size(), 1u);
  EXPECT_DOUBLE_EQ(times->samples[0].us, 7);
  EXPECT_EQ(times->handOverUs, 0);
  EXPECT_EQ(times->exposedUs, 0);
}

TEST_F(MeasuredTrace, RefusesWhatIsNotOfThePlan) {
  auto expectProblem = [&](const std::string &path, const char *text) {
    auto times = readMeasuredTrace(path, costs);
    ASSERT_FALSE(times) << text;
    EXPECT_EQ(times.error().code(), ExitCode::Input) << text;
    EXPECT_NE(times.error().message().find(text), std::string::npos)
        << times.error().message();
  };
  expectProblem(write({toText({6, 0, 1})}), "from 0 to 5");
  expectProblem(write({toText({0, 0, 1})}, "\"dropped\": 3"),
                "expects a complete trace, but it was full");
  for (const char *key : {"cat", "ts", "dur", "args"}) {
    std::string event = toText({0, 0, 1});
    event.replace(event.find(key), 1, "x");
    expectProblem(write({event}), key);
  }
  std::string path = write({});
  ASSERT_EQ(errorOf(writeFile(path, std::string("{}"))), "");
  expectProblem(path, "traceEvents");
  costs.clear();
  expectProblem(write({toText({0, 0, 1})}),
                "expects a program of the plan, but got 'micro'");
  auto none = readMeasuredTrace(folder->path() + "/none.json", costs);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("no such file"), std::string::npos);
}

} // namespace
} // namespace weft
