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
