//===- VerifyPlanTest.cpp - verify-plan catches every broken offset -------===//

#include "weft/Analysis/Liveness.h"
#include "weft/Memory/Passes.h"
#include "weft/Plan/Plan.h"
#include "weft/Verify/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace weft;

namespace {

class VerifyPlanTest : public ::testing::Test {
protected:
  VerifyPlanTest() { context.loadDialect<plan::PlanDialect>(); }

  bool run(ModuleOp module, std::unique_ptr<Pass> pass) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    PassManager manager(&context);
    manager.addPass(std::move(pass));
    return succeeded(manager.run(module));
  }

  MLIRContext context;
};

/// A program of copies between random buffers; each reads what was written.
std::string makeProgram(std::mt19937 &random) {
  std::string text = "plan.state param @w : memref<64xf32>\n"
                     "plan.program \"micro\" @p {\n"
                     "%w = plan.use @w : memref<64xf32>\n"
                     "%x = plan.input \"x\" : memref<64xf32>\n";
  std::string commands;
  std::vector<std::string> written = {"%w", "%x"};
  for (int i = 0; i < 12; ++i) {
    std::string name = "%b" + std::to_string(i);
    text += name + " = plan.alloc temporary : memref<64xf32>\n";
    const std::string &from =
        written[written.size() - 1 -
                random() % std::min<size_t>(5, written.size())];
    commands += "plan.copy " + from + " to " + name +
                " : memref<64xf32> to memref<64xf32>\n";
    written.push_back(name);
  }
  return text + commands + "plan.output \"y\" " + written.back() +
         " : memref<64xf32>\n}\n";
}

TEST_F(VerifyPlanTest, CatchesEveryOverlapOfLiveBuffers) {
  std::mt19937 random(3);
  int mutations = 0, shared = 0;
  for (int i = 0; i < 20; ++i) {
    auto module = parseSourceString<ModuleOp>(makeProgram(random), &context);
    ASSERT_TRUE(run(*module, createPlanMemoryPass()));
    ASSERT_TRUE(run(*module, createVerifyPlanPass()));
    plan::ProgramOp program = *module->getOps<plan::ProgramOp>().begin();
    Liveness liveness = computeLiveness(program);
    for (const BufferLifetime &a : liveness.buffers)
      for (const BufferLifetime &b : liveness.buffers) {
        if (a.root == b.root)
          continue;
        int64_t offset = *plan::getRootOffset(a.root);
        shared += offset == *plan::getRootOffset(b.root);
        // A buffer without a reader may die where another one is written.
        if (!a.interferes(b) || a.begin == a.end || b.begin == b.end)
          continue;
        plan::setRootOffset(a.root, *plan::getRootOffset(b.root));
        EXPECT_FALSE(run(*module, createVerifyPlanPass()));
        plan::setRootOffset(a.root, offset);
        ++mutations;
      }
    EXPECT_TRUE(run(*module, createVerifyPlanPass()));
  }
  EXPECT_GT(mutations, 200);
  EXPECT_GT(shared, 200);
}

/// A box of a matrix of 6 rows and 8 columns.
struct Box {
  int top, left, rows, columns;

  static Box make(std::mt19937 &random) {
    Box box;
    box.top = random() % 3 * 2;
    box.left = random() % 4 * 2;
    box.rows = 1 + random() % (6 - box.top);
    box.columns = 1 + random() % (8 - box.left);
    if (random() % 2)
      box.top = 0, box.rows = 6; // a slice of columns
    return box;
  }

  std::string type() const {
    return "memref<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "xf32, strided<[8, 1], offset: " + std::to_string(top * 8 + left) +
           ">>";
  }
};

/// Writes boxes of a buffer and reads one; each is a view.
std::string makeBoxes(ArrayRef<Box> writes, const Box &read) {
  std::string text =
      "module attributes {plan.persistent_bytes = 0 : i64, "
      "plan.alignment = 64 : i64, plan.arena_bytes = 576 : i64} {\n"
      "plan.program \"micro\" @p {\n%a = plan.alloc temporary "
      "{offset = 0 : i64} : memref<6x8xf32>\n"
      "%in = plan.input \"x\" {offset = 192 : i64} : "
      "memref<6x8xf32>\n%out = plan.alloc temporary {offset = "
      "384 : i64} : memref<6x8xf32>\n";
  std::string commands;
  auto add = [&](const Box &box, bool reads) {
    std::string name = "%v" + std::to_string(text.size()), other = name + "_o";
    std::string whole = "memref<6x8xf32>", type = box.type();
    text += name + " = plan.view %a : " + whole + " to " + type + "\n" + other +
            " = plan.view %" + (reads ? "out" : "in") + " : " + whole + " to " +
            type + "\n";
    std::string from = reads ? name : other, to = reads ? other : name;
    commands +=
        "plan.copy " + from + " to " + to + " : " + type + " to " + type + "\n";
  };
  for (const Box &box : writes)
    add(box, /*reads=*/false);
  add(read, /*reads=*/true);
  return text + commands + "}\n}\n";
}

TEST_F(VerifyPlanTest, KnowsWhichElementsAreWritten) {
  std::mt19937 random(4);
  int covered = 0, missed = 0;
  for (int i = 0; i < 600; ++i) {
    SmallVector<Box> writes;
    bool written[6][8] = {};
    for (int n = 1 + random() % 6; n > 0; --n) {
      Box box = Box::make(random);
      writes.push_back(box);
      for (int row = 0; row < box.rows; ++row)
        for (int column = 0; column < box.columns; ++column)
          written[box.top + row][box.left + column] = true;
    }
    Box read = Box::make(random);
    bool expected = true;
    for (int row = 0; row < read.rows; ++row)
      for (int column = 0; column < read.columns; ++column)
        expected &= written[read.top + row][read.left + column];
    std::string text = makeBoxes(writes, read);
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    EXPECT_EQ(run(*module, createVerifyPlanPass()), expected) << text;
    ++(expected ? covered : missed);
  }
  EXPECT_GT(covered, 100);
  EXPECT_GT(missed, 100);
}

} // namespace
