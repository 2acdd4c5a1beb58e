//===- ReadProgressTest.cpp - Progress of a file that takes long ----------===//

#include "weft/Base/ReadProgress.h"

#include "gtest/gtest.h"

#include <thread>

using namespace weft;

namespace {

/// The text on standard error while 2 GiB of 4 GiB are read in 2.1 seconds.
std::string readSlowly() {
  testing::internal::CaptureStderr();
  {
    ReadProgress progress("data.bin", int64_t(4) << 30);
    progress.advance(int64_t(1) << 30);
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    progress.advance(int64_t(1) << 30);
    progress.advance(int64_t(1) << 30);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(ReadProgress, ReportsAFileThatTakesLong) {
  EXPECT_EQ(readSlowly(), "");
  ReadProgress::show(true);
  // A file gets one line in 30 seconds.
  EXPECT_EQ(readSlowly(), "reading data.bin: 50 % of 4.00 GiB\n");
  ReadProgress::show(false);
}

TEST(ReadProgress, OneOfSeveralReports) {
  ReadProgress::show(true);
  ReadProgress first("first.bin", 1);
  EXPECT_EQ(readSlowly(), "");
  ReadProgress::show(false);
}

} // namespace
