//===- LayoutTest.cpp - Strided layouts -----------------------------------===//

#include "weft/Plan/Plan.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace weft::plan;

namespace {

/// Element positions of a layout in row-major order of its index.
std::vector<int64_t> enumerate(const Layout &layout) {
  std::vector<int64_t> positions = {layout.offset};
  for (auto [size, stride] : llvm::zip(layout.sizes, layout.strides)) {
    std::vector<int64_t> next;
    for (int64_t position : positions)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(position + i * stride);
    positions = std::move(next);
  }
  return positions;
}

TEST(LayoutTest, DenseIgnoresSizeOne) {
  Layout layout = Layout::getDense({2, 3, 4});
  EXPECT_TRUE(layout.isDense());
  layout.sizes[1] = 1;
  layout.strides = {4, 77, 1};
  EXPECT_TRUE(layout.isDense());
  layout.strides = {8, 77, 1};
  EXPECT_FALSE(layout.isDense());
}

TEST(LayoutTest, ReadsEveryFormOfAType) {
  MLIRContext context;
  for (const char *text : {
           "memref<f32>",
           "memref<4x1x3xf32>",
           "memref<0x3xf32>",
           "memref<4x3xf32, strided<[12, 1], offset: 5>>",
           "memref<2x3xf32, strided<[1, 2]>>",
           "memref<2x3xf32, affine_map<(d0, d1) -> (d1 * 2 + d0 + 7)>>",
       }) {
    auto type = cast<MemRefType>(parseType(text, &context));
    llvm::SmallVector<int64_t> strides;
    int64_t offset;
    ASSERT_TRUE(succeeded(type.getStridesAndOffset(strides, offset)));
    Layout layout = Layout::get(type);
    EXPECT_EQ(layout.sizes, llvm::SmallVector<int64_t>(type.getShape()));
    if (type.getNumElements() != 0)
      EXPECT_EQ(layout.strides, strides);
    EXPECT_EQ(layout.offset, offset);
  }
}

TEST(LayoutTest, SplitsTheRowOfASlice) {
  // The middle third of [2, 8, 12] as [2, 8, 2, 2].
  Layout slice = Layout::getDense({2, 8, 12});
  slice.sizes[2] = 4;
  slice.offset = 4;
  std::optional<Layout> heads = slice.reshape({2, 8, 2, 2});
  ASSERT_TRUE(heads);
  EXPECT_EQ(heads->strides, (llvm::SmallVector<int64_t>{96, 12, 2, 1}));
  EXPECT_EQ(heads->offset, 4);
  EXPECT_EQ(enumerate(*heads), enumerate(slice));
}

TEST(LayoutTest, RefusesWhatNeedsACopy) {
  Layout transposed = Layout::getDense({3, 4});
  std::swap(transposed.sizes[0], transposed.sizes[1]);
  std::swap(transposed.strides[0], transposed.strides[1]);
  EXPECT_FALSE(transposed.reshape({12}));
  EXPECT_TRUE(transposed.reshape({2, 2, 3}));
}

/// Any reshape that is not refused names the same elements in the same order;
/// a dense layout is never refused.
TEST(LayoutTest, RandomReshapesKeepElements) {
  std::mt19937 random(7);
  const int64_t shapes[][4] = {{24, 1, 1, 1}, {2, 12, 1, 1}, {4, 6, 1, 1},
                               {2, 3, 4, 1},  {1, 4, 3, 2},  {2, 2, 3, 2},
                               {3, 8, 1, 1},  {1, 1, 6, 4}};
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    Layout layout = Layout::getDense(shapes[random() % 8]);
    bool isDense = i % 4 == 0;
    if (!isDense)
      for (int64_t &stride : layout.strides)
        stride *= 1 + random() % 2 * 2;
    if (i % 4 == 2)
      std::swap(layout.strides[0], layout.strides[1]),
          std::swap(layout.sizes[0], layout.sizes[1]);
    std::optional<Layout> result = layout.reshape(shapes[random() % 8]);
    if (isDense)
      EXPECT_TRUE(result);
    if (!result)
      continue;
    ++accepted;
    EXPECT_EQ(enumerate(*result), enumerate(layout));
  }
  EXPECT_GT(accepted, 600);
}

TEST(LayoutTest, AddressesIncludeTheView) {
  MLIRContext context;
  context.loadDialect<PlanDialect>();
  auto module = parseSourceString<ModuleOp>(R"(
    plan.state param @w : memref<8xf32> {offset = 128 : i64}
    plan.program "eval" @p {
      %w = plan.use @w {offset = 128 : i64} : memref<8xf32>
      %v = plan.view %w : memref<8xf32> to memref<4xf32, strided<[2], offset: 1>>
      %a = plan.alloc temporary : memref<8xf32>
    })",
                                            &context);
  std::vector<Value> values;
  module->walk([&](Operation *op) {
    for (Value result : op->getResults())
      values.push_back(result);
  });
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(getByteOffset(values[0]), 128);
  EXPECT_EQ(getByteOffset(values[1]), 132);
  EXPECT_EQ(getRoot(values[1]), values[0]);
  EXPECT_EQ(getByteOffset(values[2]), std::nullopt);
  setRootOffset(values[2], 64);
  EXPECT_EQ(getByteOffset(values[2]), 64);
}

} // namespace
