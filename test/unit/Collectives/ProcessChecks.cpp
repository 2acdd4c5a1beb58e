//===- ProcessChecks.cpp - Checks of ranks that are processes -------------===//

#include "ProcessChecks.h"

#include "CollectiveChecks.h"

#include <gtest/gtest.h>

using namespace weft;

namespace {
class ProcessCheck : public ::testing::Test {
public:
  ProcessCheck(Transport &all, const RankCheck &check)
      : all(all), check(check) {}
  void TestBody() override { check.run(all); }

private:
  Transport &all;
  const RankCheck check;
};

/// Prints failures of a rank that prints no other results.
class FailurePrinter : public ::testing::EmptyTestEventListener {
public:
  explicit FailurePrinter(int rank) : rank(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult &result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank, result.file_name(),
                   result.line_number(), result.message());
  }

private:
  const int rank;
};
} // namespace

int weft::runChecks(RankProcess &process, const char *suite, int argc,
                    char **argv) {
  auto all = process.connect();
  ::testing::InitGoogleTest(&argc, argv);
  if (process.rank() != 0) {
    auto &listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(process.rank()));
  }
  for (const RankCheck &check : kRankChecks)
    ::testing::RegisterTest(suite, check.name, nullptr, nullptr, __FILE__,
                            __LINE__, [&all, &check]() -> ProcessCheck * {
                              return new ProcessCheck(*all, check);
                            });
  const int code = RUN_ALL_TESTS();
  meet(*all);
  all.reset();
  if (Status s = process.finish(); !s)
    return s.error().report();
  return code;
}
