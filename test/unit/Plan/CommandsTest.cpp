//===- CommandsTest.cpp - Elements that layouts share ---------------------===//

#include "weft/Plan/Plan.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace mlir;
using namespace weft::plan;

namespace {

/// Every element, by walking over the indices.
std::multiset<int64_t> listElements(const Layout &layout) {
  std::multiset<int64_t> elements = {layout.offset};
  for (auto [size, stride] : llvm::zip(layout.sizes, layout.strides)) {
    std::multiset<int64_t> wider;
    for (int64_t element : elements)
      for (int64_t i = 0; i != size; ++i)
        wider.insert(element + i * stride);
    elements = std::move(wider);
  }
  return elements;
}

Layout makeLayout(std::mt19937 &random) {
  Layout layout;
  layout.offset = random() % 24;
  for (int rank = random() % 4; rank > 0; --rank) {
    layout.sizes.push_back(random() % 4);
    layout.strides.push_back(static_cast<int64_t>(random() % 13) - 3);
  }
  return layout;
}

TEST(OverlapTest, AgreesWithAListOfElements) {
  std::mt19937 random(7);
  int shared = 0, apart = 0;
  for (int i = 0; i != 20000; ++i) {
    Layout a = makeLayout(random), b = makeLayout(random);
    std::multiset<int64_t> left = listElements(a), right = listElements(b);
    bool overlaps =
        llvm::any_of(left, [&](int64_t e) { return right.count(e) != 0; });
    EXPECT_EQ(a.overlaps(b), overlaps);
    EXPECT_EQ(b.overlaps(a), overlaps);
    (overlaps ? shared : apart)++;
  }
  EXPECT_GT(shared, 1000);
  EXPECT_GT(apart, 2000);
}

/// Of few elements and any number of dimensions the answer is exact, also where
/// strides interleave.
TEST(OverlapTest, KnowsRepeatedElements) {
  std::mt19937 random(8);
  int distinct = 0, repeated = 0;
  for (int i = 0; i != 20000; ++i) {
    Layout layout = makeLayout(random);
    for (int more = random() % 3; more > 0; --more) {
      layout.sizes.push_back(1 + random() % 4);
      layout.strides.push_back(static_cast<int64_t>(random() % 60) - 20);
    }
    std::multiset<int64_t> elements = listElements(layout);
    std::set<int64_t> once(elements.begin(), elements.end());
    EXPECT_EQ(layout.isInjective(), once.size() == elements.size());
    (layout.isInjective() ? distinct : repeated)++;
  }
  EXPECT_GT(distinct, 5000);
  EXPECT_GT(repeated, 2000);
  EXPECT_TRUE((Layout{{2, 3, 4}, {12, 4, 1}, 0}.isInjective()));
  EXPECT_FALSE((Layout{{2, 3}, {0, 1}, 0}.isInjective()));
}

/// Steps of 3 and of 2 lead to the same element after 2 and 3 of them, however
/// long the dimensions are.
TEST(OverlapTest, KnowsRepeatedElementsOfLongDimensions) {
  const int64_t many = int64_t(1) << 30;
  EXPECT_TRUE((Layout{{2, many}, {3, 2}, 0}.isInjective()));
  EXPECT_FALSE((Layout{{3, many}, {3, 2}, 0}.isInjective()));
  EXPECT_TRUE((Layout{{many, 2}, {-4, 2}, 0}.isInjective()));
  EXPECT_FALSE((Layout{{many, 3}, {-4, 2}, 0}.isInjective()));
}

/// Three dimensions that no length and no divisor tells apart are listed, up to
/// 2^20 elements; beyond it they count as repeating some.
TEST(OverlapTest, ListsInterleavedDimensions) {
  const int64_t few = 1 << 18, many = few + 1, far = 8 * many;
  EXPECT_TRUE((Layout{{few, 2, 2}, {7, 8, 9}, 0}.isInjective()));
  EXPECT_FALSE((Layout{{few / 2, 3, 2}, {7, 8, 9}, 0}.isInjective()));
  EXPECT_FALSE((Layout{{many, 2, 2}, {7, 8, 9}, 0}.isInjective()));
  // A dimension that leads further than all others is not listed.
  EXPECT_TRUE((Layout{{many, few, 2, 2}, {far, 7, 8, 9}, 0}.isInjective()));
}

/// Slices of the columns of a matrix with more rows than runs are listed.
TEST(OverlapTest, TellsColumnsOfManyRowsApart) {
  Layout left = {{1 << 22, 4}, {12, 1}, 0}, right = {{1 << 22, 4}, {12, 1}, 4};
  EXPECT_FALSE(left.overlaps(right));
  right.offset = 3;
  EXPECT_TRUE(left.overlaps(right));
  Layout odd = {{1 << 22, 4}, {13, 1}, 4};
  EXPECT_TRUE(left.overlaps(odd));
}

TEST(ReshapeTest, KeepsAllElementsAndEmptyOnes) {
  EXPECT_FALSE((Layout{{8}, {1}, 0}.reshape({4})));
  EXPECT_FALSE((Layout{{4}, {1}, 0}.reshape({8})));
  EXPECT_FALSE((Layout{{0, 4}, {4, 1}, 0}.reshape({4})));
  std::optional<Layout> empty = Layout{{0, 2, 4}, {8, 4, 1}, 3}.reshape({0, 8});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->offset, 3);
  EXPECT_EQ(empty->sizes, (llvm::SmallVector<int64_t>{0, 8}));
}

TEST(StoredMatrixTest, ReadsRowsAndColumns) {
  auto rows = StoredMatrix::get({{2, 3, 4}, {12, 4, 1}, 0}, /*flat=*/false);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->batch, 2);
  EXPECT_EQ(rows->batchStride, 12);
  EXPECT_EQ(rows->leading, 4);
  EXPECT_FALSE(rows->transposed);
  auto flat = StoredMatrix::get({{2, 3, 4}, {12, 4, 1}, 0}, /*flat=*/true);
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->batch, 1);
  EXPECT_EQ(flat->rows, 6);
  auto columns = StoredMatrix::get({{3, 4}, {1, 3}, 0}, /*flat=*/false);
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->transposed);
  EXPECT_EQ(columns->leading, 3);
  // Neither direction is dense; batches at two distances; one dimension.
  EXPECT_FALSE(StoredMatrix::get({{3, 4}, {8, 2}, 0}, false));
  EXPECT_FALSE(StoredMatrix::get({{2, 2, 3, 4}, {12, 50, 4, 1}, 0}, false));
  EXPECT_FALSE(StoredMatrix::get({{4}, {1}, 0}, false));
}

} // namespace
