//===- OutlineTest.cpp - Outlining keeps the order, whatever the clusters -===//
//
// weft-fuse chooses its groups so that most need one kernel. Here they are
// random: any neighbouring ops that fit one space. The program must compute the
// same results, with nothing read before it is written.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"

#include "weft/Fusion/Passes.h"
#include "weft/Interp/Compare.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <random>

using namespace weft;

namespace {

const char *const kScalar = "tensor<f32>", *const kRow = "tensor<4xf32>",
                  *const kColumn = "tensor<8xf32>",
                  *const kTable = "tensor<8x4xf32>",
                  *const kLine = "tensor<32xf32>";

/// The text of a program of random ops over a few shapes.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string make(unsigned numOps) {
    std::string head = "weft.program @eval(";
    for (const char *type : {kScalar, kRow, kColumn, kTable})
      head += (values.empty() ? "" : ", ") + define(type) + ": " + type +
              " {weft.input = \"x" + std::to_string(values.size()) + "\"}";
    while (values.size() < 4 + numOps)
      addOp();
    std::string names, types, results;
    for (size_t i = 4; i < values.size(); ++i) {
      if (i + 1 != values.size() && draw(3) != 0)
        continue;
      const char *comma = names.empty() ? "" : ", ";
      names += comma + name(i);
      types += comma + values[i];
      results +=
          comma + values[i] + " {weft.output = \"y" + std::to_string(i) + "\"}";
    }
    return head + ") -> (" + results +
           ") attributes {kind = #weft.kind<eval>} {\n" + body +
           "  weft.return " + names + " : " + types + "\n}\n";
  }

private:
  unsigned draw(unsigned choices) { return random() % choices; }
  static std::string name(size_t index) { return "%v" + std::to_string(index); }

  std::string define(const std::string &type) {
    values.push_back(type);
    return name(values.size() - 1);
  }

  void line(const std::string &result, const std::string &op) {
    body += "  " + define(result) + " = weft." + op + "\n";
  }

  void addOp() {
    size_t a = draw(values.size()), b = draw(values.size());
    std::string x = values[a], y = values[b], of = name(a) + " : " + x;
    switch (draw(6)) {
    case 0:
      return line(x, (draw(2) ? "tanh " : "neg ") + of);
    case 1:
      if (x != y && x != kScalar && y != kScalar && !(x == kTable && y == kRow))
        return;
      return line(x == kScalar ? y : x, (draw(2) ? "add " : "mul ") + name(a) +
                                            ", " + name(b) + " : " + x + ", " +
                                            y);
    case 2:
      if (x != kTable)
        return;
      return draw(2)
                 ? line(kColumn, "reduce sum " + name(a) + " dims [1] : " + x)
                 : line(kRow, "reduce max " + name(a) + " dims [0] : " + x);
    case 3:
      if (x != kScalar && x != kRow)
        return;
      return line(kTable, "broadcast " + of + " to " + kTable);
    case 4:
      if (x != kTable && x != kLine)
        return;
      return line(x == kTable ? kLine : kTable,
                  "reshape " + of + " to " + (x == kTable ? kLine : kTable));
    default:
      return line(x, "materialize " + of);
    }
  }

  std::mt19937 random;
  std::vector<std::string> values; // types
  std::string body;
};

class OutlineTest : public testing::Test {
protected:
  OutlineTest() {
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect>();
    registerScalarBodies(registry);
    registerInterpreter(registry);
    context.appendDialectRegistry(registry);
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  mlir::MLIRContext context;
};

/// As weft-fuse does before it forms groups.
void eraseDeadOps(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

/// As many ops from `first` on as fit one space.
Cluster makeCluster(mlir::Operation *first) {
  Cluster cluster;
  for (mlir::Operation *op = first; !mlir::isa<ReturnOp>(op);
       op = op->getNextNode()) {
    if (!cluster.space.tryAdd(op))
      break;
    cluster.add(op);
  }
  return cluster;
}

TEST_F(OutlineTest, RandomClusters) {
  unsigned numSplit = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::string text = RandomProgram(seed).make(4 + seed % 25);
    mlir::OwningOpRef<mlir::ModuleOp> before = parse(text), after = parse(text);
    ASSERT_TRUE(before && after) << text;
    auto program = *after->getOps<ProgramOp>().begin();
    mlir::Block &block = program.getBody().front();
    eraseDeadOps(block);
    auto first = block.begin();
    std::advance(first,
                 seed % std::max<size_t>(1, block.getOperations().size() - 1));
    Cluster cluster = makeCluster(&*first);
    if (cluster.ops.empty())
      continue;
    KernelPool pool(*after);
    ASSERT_TRUE(succeeded(outlineCluster(cluster, pool)))
        << "seed " << seed << "\n"
        << text;
    ASSERT_TRUE(succeeded(mlir::verify(*after))) << "seed " << seed << "\n"
                                                 << text;
    CompareOptions options;
    options.tolerance = 0;
    llvm::FailureOr<Comparison> result =
        compareModules(*before, *after, options);
    ASSERT_TRUE(succeeded(result) && result->isEqual())
        << "seed " << seed << "\n"
        << text << comparisonTable(*result);
    numSplit += pool.calls > 1; // kernels for one cluster
  }
  EXPECT_GT(numSplit, 20u); // else this tests nothing
}

} // namespace
