//===- ProcessChecks.cpp - Checks of ranks that are processes -------------===//

#include "ProcessChecks.h"

#include "CollectiveChecks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

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

/// One rank sends a notice, the others receive it.
static void checkNotice(Transport &all, int sender, FailureNotice notice) {
  auto part = copyOf(all);
  EXPECT_FALSE(part->hasNotified(sender, notice));
  meet(all);
  if (part->rank() == sender) {
    part->notify(notice);
  } else {
    // The sender takes part in no exchange.
    auto heard = part->gather(1, "step 3");
    ASSERT_FALSE(heard);
    EXPECT_EQ(part->absence().ranks, std::vector<int>{sender});
    EXPECT_TRUE(part->absence().haveLeft);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!part->hasNotified(sender, notice) &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    EXPECT_TRUE(part->hasNotified(sender, notice));
    EXPECT_FALSE(part->hasNotified(sender, FailureNotice::Ended));
  }
  meet(all);
}

// Ranks that are threads need none.
static void checkNotices(Transport &all) {
  constexpr FailureNotice order[] = {
      FailureNotice::Follows, FailureNotice::Failed, FailureNotice::Reports};
  for (int i = 0; i < std::min(all.ranks(), 3); ++i)
    checkNotice(all, i, order[i]);
}

int weft::runChecks(RankProcess &process, const char *suite, int argc,
                    char **argv) {
  auto all = process.connect();
  ::testing::InitGoogleTest(&argc, argv);
  if (process.rank() != 0) {
    auto &listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(process.rank()));
  }
  std::vector<RankCheck> checks(std::begin(kRankChecks), std::end(kRankChecks));
  checks.push_back({"Notices", checkNotices});
  for (const RankCheck &check : checks)
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
