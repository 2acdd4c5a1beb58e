//===- BufferBytesTest.cpp - Users and bytes of buffers -------------------===//

#include "weft/Plan/BufferBytes.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace weft::plan;

namespace {

/// A module whose declarations are known by their position in the program.
class BuffersTest : public testing::Test {
protected:
  Value parse(const std::string &declarations, unsigned index = 0) {
    context.loadDialect<PlanDialect>();
    module = parseSourceString<ModuleOp>(
        "plan.program \"eval\" @eval {\n" + declarations + "}\n", &context);
    EXPECT_TRUE(module);
    return module ? get(index) : Value();
  }
  Value get(unsigned index) {
    auto program = *module->getOps<ProgramOp>().begin();
    return std::next(program.getBody().front().begin(), index)->getResult(0);
  }
  bool overlap(unsigned x, unsigned y) {
    const bool found = BufferBytes(get(x)).overlaps(BufferBytes(get(y)));
    EXPECT_EQ(BufferBytes(get(y)).overlaps(BufferBytes(get(x))), found);
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(BuffersTest, UsersOfViewsAreUsersOfTheRoot) {
  Value root = parse(R"(
    %a = plan.alloc temporary : memref<4xf32>
    %b = plan.alloc temporary : memref<2xf32>
    %low = plan.view %a : memref<4xf32> to memref<2xf32>
    %high = plan.view %a : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
    plan.constant %a = dense<1.0> : tensor<4xf32> : memref<4xf32>
    plan.copy %high to %b : memref<2xf32, strided<[1], offset: 2>> to memref<2xf32>
    plan.copy %b to %low : memref<2xf32> to memref<2xf32>
    plan.output "a" %a : memref<4xf32>
  )");
  unsigned constants = 0, copies = 0, outputs = 0;
  for (Operation *user : getUsers(root)) {
    EXPECT_FALSE(isa<ViewOp>(user));
    constants += isa<ConstantOp>(user);
    copies += isa<CopyOp>(user);
    outputs += isa<OutputOp>(user);
  }
  EXPECT_EQ(constants, 1u);
  EXPECT_EQ(copies, 2u);
  EXPECT_EQ(outputs, 1u);
}

TEST_F(BuffersTest, ViewsOfOneRootShareCommonElements) {
  parse(R"(
    %a = plan.alloc temporary : memref<4xf32>
    %low = plan.view %a : memref<4xf32> to memref<2xf32>
    %high = plan.view %a : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
    %even = plan.view %a : memref<4xf32> to memref<2xf32, strided<[2]>>
    %b = plan.alloc temporary : memref<4xf32>
  )");
  EXPECT_TRUE(overlap(0, 1));
  EXPECT_FALSE(overlap(1, 2));
  EXPECT_TRUE(overlap(1, 3));
  EXPECT_TRUE(overlap(2, 3));
  EXPECT_FALSE(overlap(0, 4));
}

// Queries, keys and values that one product makes for attention: 4 heads that
// share 2 heads of keys, in f16. Rows are interleaved, so first and last bytes
// of the parts alternate, but none has an element of another.
TEST_F(BuffersTest, PartsOfOneProductAreDisjoint) {
  parse(R"(
    %qkv = plan.alloc temporary : memref<2x6x64xf16>
    %q = plan.view %qkv : memref<2x6x64xf16> to memref<2x6x4x8xf16, strided<[384, 64, 8, 1]>>
    %k = plan.view %qkv : memref<2x6x64xf16> to memref<2x6x2x8xf16, strided<[384, 64, 8, 1], offset: 32>>
    %v = plan.view %qkv : memref<2x6x64xf16> to memref<2x6x2x8xf16, strided<[384, 64, 8, 1], offset: 48>>
    %head = plan.view %qkv : memref<2x6x64xf16> to memref<2x6x1x8xf16, strided<[384, 64, 8, 1], offset: 24>>
    %shifted = plan.view %qkv : memref<2x6x64xf16> to memref<2x6x1x8xf16, strided<[384, 64, 8, 1], offset: 28>>
  )");
  for (auto [x, y] : {std::pair(1, 2), {1, 3}, {2, 3}, {4, 2}})
    EXPECT_FALSE(overlap(x, y)) << x << ' ' << y;
  EXPECT_TRUE(overlap(1, 4));
  // Half of it in the queries, half in the keys.
  EXPECT_TRUE(overlap(1, 5));
  EXPECT_TRUE(overlap(2, 5));
  EXPECT_FALSE(overlap(3, 5));
}

// [B, H, T, D] beside [B, T, H, D]: a head takes a run of rows, or a column of
// each row.
TEST_F(BuffersTest, HeadsInEitherOrder) {
  parse(R"(
    %x = plan.alloc temporary : memref<1x3x5x7xf32>
    %head = plan.view %x : memref<1x3x5x7xf32> to memref<1x1x5x7xf32, strided<[105, 35, 7, 1], offset: 35>>
    %next = plan.view %x : memref<1x3x5x7xf32> to memref<1x1x5x7xf32, strided<[105, 35, 7, 1], offset: 70>>
    %column = plan.view %x : memref<1x3x5x7xf32> to memref<1x5x1x7xf32, strided<[105, 21, 7, 1], offset: 7>>
    %other = plan.view %x : memref<1x3x5x7xf32> to memref<1x5x1x7xf32, strided<[105, 21, 7, 1], offset: 14>>
    %last = plan.view %x : memref<1x3x5x7xf32> to memref<1x1x7xf32, strided<[105, 7, 1], offset: 98>>
  )");
  EXPECT_FALSE(overlap(1, 2));
  EXPECT_FALSE(overlap(3, 4));
  EXPECT_TRUE(overlap(1, 3));
  EXPECT_TRUE(overlap(2, 4));
  EXPECT_TRUE(overlap(4, 5));
  EXPECT_FALSE(overlap(3, 5));
}

// Roots of other types: places count in bytes. Bits of dropout lie behind lse.
TEST_F(BuffersTest, TypesOfAttentionShareBytesOfTheArena) {
  parse(R"(
    %out = plan.alloc temporary {offset = 0 : i64} : memref<2x6x4x8xf16>
    %lse = plan.alloc temporary {offset = 768 : i64} : memref<2x4x6xf32>
    %bits = plan.alloc activation {offset = 960 : i64} : memref<2x4x4x1x32xi32>
    %over = plan.alloc temporary {offset = 956 : i64} : memref<2xi64>
    %heads = plan.view %bits : memref<2x4x4x1x32xi32> to memref<1x1x4x1x32xi32>
    %late = plan.view %bits : memref<2x4x4x1x32xi32> to memref<1x4x4x1x32xi32, strided<[512, 128, 32, 32, 1], offset: 512>>
  )");
  EXPECT_FALSE(overlap(0, 1));
  EXPECT_FALSE(overlap(1, 2));
  EXPECT_TRUE(overlap(1, 3));
  EXPECT_TRUE(overlap(2, 3));
  EXPECT_TRUE(overlap(3, 4));
  // Of another root a view counts as the whole.
  EXPECT_TRUE(overlap(3, 5));
  EXPECT_FALSE(overlap(4, 5));
}

TEST_F(BuffersTest, RootsWithOffsetsShareBytesOfTheArena) {
  parse(R"(
    %a = plan.alloc temporary {offset = 0 : i64} : memref<4xf32>
    %b = plan.alloc temporary {offset = 12 : i64} : memref<4xf32>
    %c = plan.alloc temporary {offset = 16 : i64} : memref<4xf32>
    %d = plan.alloc temporary : memref<4xf32>
  )");
  EXPECT_TRUE(overlap(0, 1));
  EXPECT_FALSE(overlap(0, 2));
  EXPECT_TRUE(overlap(1, 2));
  EXPECT_TRUE(overlap(0, 3));
}

} // namespace
