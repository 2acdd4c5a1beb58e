//===- TraceTimeTest.cpp - Times of trace events --------------------------===//

#include "weft/Formats/TraceTime.h"

#include <gtest/gtest.h>

using namespace weft;

// 1.001 * 1000 is below 1001.
TEST(TraceTime, ReadersThatCutAndThatRoundGetTheNanosecond) {
  EXPECT_NE(static_cast<int64_t>(1.001 * 1e3), 1001);
  for (int64_t begin : {int64_t(0), int64_t(3600) * 1000000000})
    for (int64_t ns = begin; ns < begin + 200000; ++ns) {
      const double us = traceMicros(ns);
      ASSERT_EQ(static_cast<int64_t>(us * 1e3), ns);
      ASSERT_EQ(traceNanos(us), ns);
    }
}
