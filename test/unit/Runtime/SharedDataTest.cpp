//===- SharedDataTest.cpp - Ranks of one process read one file ------------===//

#include "ToyTool.h"

#include "weft/Runtime/Data/DataSource.h"

#include <atomic>
#include <fstream>
#include <thread>

using namespace weft;

namespace {

class SharedDataTest : public ToyTest {
protected:
  static constexpr int64_t kRows = 5000, kSeq = 8;

  void SetUp() override {
    ToyTest::SetUp();
    std::ofstream text(path("text"), std::ios::binary);
    for (int64_t i = 0; i < kRows * kSeq + 1; ++i)
      text.put(byteAt(i));
  }

  static char byteAt(int64_t i) { return char('a' + i / kSeq * 7 % 26); }

  /// Rows that four threads get wrong, each with a walk of its own.
  static int64_t countWrong(const DataSource &source) {
    std::atomic<int64_t> wrong{0};
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const int64_t dims[] = {1, kSeq};
        const WeftPort port = {"tokens", WEFT_I32, 2, dims, 0, kSeq * 4};
        int32_t row[kSeq];
        for (int64_t i = 0; i < source.rows(); ++i) {
          const int64_t at = (i * (2 * t + 1) + 1000 * t) % source.rows();
          if (!source.fill(port, at, reinterpret_cast<char *>(row)))
            ++wrong;
          for (int64_t k = 0; k < kSeq; ++k)
            wrong += row[k] != byteAt(at * kSeq + k);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    return wrong;
  }
};

} // namespace

TEST_F(SharedDataTest, EachGetsItsRows) {
  DataOptions options;
  options.data = path("text");
  options.readsTraining = true;
  Metadata metadata;
  metadata.batch = 1;
  metadata.seq = kSeq;
  metadata.vocab = 256;
  auto data = openTokenData(options, metadata);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ((*data).train->rows(), kRows);
  EXPECT_EQ(countWrong(*data->train), 0);
}
