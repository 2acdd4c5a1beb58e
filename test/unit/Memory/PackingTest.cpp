//===- PackingTest.cpp - Offsets for buffers with lifetimes ---------------===//

#include "weft/Memory/Packing.h"

#include "gtest/gtest.h"

#include <random>

using namespace weft;

namespace {

/// Checks every pair of items byte range against byte range.
void expectValid(llvm::ArrayRef<PackItem> items, const Packing &packing,
                 int64_t alignment) {
  ASSERT_EQ(packing.offsets.size(), items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(packing.offsets[i] % alignment, 0);
    EXPECT_GE(packing.offsets[i], 0);
    EXPECT_LE(packing.offsets[i] + items[i].bytes, packing.bytes);
    for (size_t j = i + 1; j < items.size(); ++j) {
      bool sharesTime = false;
      for (int64_t t = items[i].begin; t <= items[i].end; ++t)
        sharesTime |= items[j].begin <= t && t <= items[j].end;
      bool sharesBytes =
          packing.offsets[i] < packing.offsets[j] + items[j].bytes &&
          packing.offsets[j] < packing.offsets[i] + items[i].bytes;
      EXPECT_FALSE(sharesTime && sharesBytes) << i << " and " << j;
    }
  }
}

TEST(PackingTest, EmptyNeedsNothing) {
  Packing packing = packItems({}, 64);
  EXPECT_EQ(packing.bytes, 0);
  EXPECT_TRUE(packing.offsets.empty());
}

TEST(PackingTest, ReusesBytesOfTheDead) {
  PackItem items[] = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  Packing packing = packItems(items, 64);
  expectValid(items, packing, 64);
  EXPECT_EQ(packing.bytes, 256);
  EXPECT_EQ(packing.offsets[0], packing.offsets[2]);
}

/// Activations of a deep model: written in order, read in reverse, with a
/// temporary between: the packing is perfect.
TEST(PackingTest, ForwardAndBackwardAreTight) {
  std::vector<PackItem> items;
  int64_t layers = 48;
  for (int64_t i = 0; i < layers; ++i) {
    items.push_back({1000 + 10 * (i % 3), 2 * i, 4 * layers - 2 * i});
    items.push_back({3000, 2 * i, 2 * i + 1});
    items.push_back({2000, 4 * layers - 2 * i - 1, 4 * layers - 2 * i});
  }
  Packing packing = packItems(items, 64);
  expectValid(items, packing, 64);
  EXPECT_LE(packing.bytes, getLowerBound(items, 64) * 1.02);
}

TEST(PackingTest, RandomItemsNeverOverlap) {
  std::mt19937 random(1);
  double slack = 0;
  int runs = 300;
  for (int run = 0; run < runs; ++run) {
    int64_t alignment = run % 2 ? 64 : 1;
    std::vector<PackItem> items(1 + random() % 60);
    for (PackItem &item : items) {
      item.bytes = random() % 5 == 0 ? 0 : random() % 2000;
      item.begin = static_cast<int64_t>(random() % 50) - 1;
      item.end = item.begin + random() % 20;
    }
    Packing packing = packItems(items, alignment);
    expectValid(items, packing, alignment);
    int64_t bound = getLowerBound(items, alignment);
    EXPECT_GE(packing.bytes, bound);
    slack += bound ? static_cast<double>(packing.bytes) / bound - 1 : 0;
    EXPECT_EQ(packing.offsets, packItems(items, alignment).offsets);
  }
  EXPECT_LT(slack / runs, 0.05);
}

} // namespace
