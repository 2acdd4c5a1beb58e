//===- RepeatedUpdatesTest.cpp - Updates that share a formula -------------===//

#include "RepeatedUpdates.h"

#include "weft/Fusion/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace weft;

namespace {

/// p - sum(g) g: a number of each update is computed from its own tensors.
struct SumOfGradient
    : CompositeOpInterface::ExternalModel<SumOfGradient, SgdOp> {
  llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  decompose(mlir::Operation *op, mlir::OpBuilder &builder) const {
    auto sgd = mlir::cast<SgdOp>(op);
    mlir::Location loc = op->getLoc();
    mlir::Value grad = sgd.getGrad();
    mlir::Value sum = ReduceOp::create(builder, loc, ReduceKind::Sum, grad,
                                       llvm::ArrayRef<int64_t>{0, 1});
    mlir::Value step = MulOp::create(builder, loc, grad, sum);
    mlir::Value next = SubOp::create(builder, loc, sgd.getParam(), step);
    return llvm::SmallVector<mlir::Value>{next, step};
  }
};

const char *const kUpdates = R"mlir(
weft.param @a : tensor<4x8xf32> {init = #weft.init<ones>}
weft.param @b : tensor<4x8xf32> {init = #weft.init<ones>}
weft.state @am : tensor<4x8xf32> {kind = #weft.state_kind<optimizer>}
weft.state @bm : tensor<4x8xf32> {kind = #weft.state_kind<optimizer>}
weft.state @ag : tensor<4x8xf32> {kind = #weft.state_kind<gradient>}
weft.state @bg : tensor<4x8xf32> {kind = #weft.state_kind<gradient>}
weft.program @apply(%c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"},
    %t: tensor<i64> {weft.input = "t"}, %n: tensor<f64> {weft.input = "n"})
    attributes {kind = #weft.kind<apply>} {
  %a = weft.read @a : tensor<4x8xf32>
  %b = weft.read @b : tensor<4x8xf32>
  %am = weft.read @am : tensor<4x8xf32>
  %bm = weft.read @bm : tensor<4x8xf32>
  %ag = weft.read @ag : tensor<4x8xf32>
  %bg = weft.read @bg : tensor<4x8xf32>
  %na, %nam = weft.sgd(%a, %am, %ag, %c, %s, %t, %n, %n, %n)
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %nb, %nbm = weft.sgd(%b, %bm, %bg, %c, %s, %t, %n, %n, %n)
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  weft.return writes @a = %na : tensor<4x8xf32>, @am = %nam : tensor<4x8xf32>, @b = %nb : tensor<4x8xf32>, @bm = %nbm : tensor<4x8xf32>
}
)mlir";

ProgramOp getProgram(mlir::ModuleOp module) {
  return *module.getOps<ProgramOp>().begin();
}

/// The calls that read the state, themselves or through other calls.
unsigned countCallsBehind(ProgramOp program, llvm::StringRef state) {
  llvm::DenseSet<mlir::Value> reached;
  unsigned count = 0;
  for (mlir::Operation &op : program.getBody().front()) {
    auto read = mlir::dyn_cast<ReadOp>(op);
    bool isBehind =
        read ? read.getSource() == state
             : llvm::any_of(op.getOperands(), [&](mlir::Value operand) {
                 return reached.contains(operand);
               });
    if (!isBehind)
      continue;
    reached.insert(op.result_begin(), op.result_end());
    count += mlir::isa<CallOp>(op);
  }
  return count;
}

/// A context in which the update of SGD is SumOfGradient.
class RepeatedUpdates : public testing::Test {
protected:
  RepeatedUpdates() {
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect>();
    registerScalarBodies(registry);
    registry.addExtension(+[](mlir::MLIRContext *context, WeftDialect *) {
      SgdOp::attachInterface<SumOfGradient>(*context);
    });
    context.appendDialectRegistry(registry);
    module = mlir::parseSourceString<mlir::ModuleOp>(kUpdates, &context);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Each update has a sum of its own gradient: none calls the kernels of the
/// other with the other's sum.
TEST_F(RepeatedUpdates, AreWrittenOutForNumbersOfTheirOwn) {
  ASSERT_TRUE(module);
  ProgramOp program = getProgram(*module);
  EXPECT_EQ(findRepeatedUpdates(program).size(), 1u);
  mlir::PassManager manager(&context);
  manager.addNestedPass<ProgramOp>(createDecomposePass());
  manager.addPass(createFusePass());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  EXPECT_TRUE(program.getBody().front().getOps<SgdOp>().empty());
  unsigned ofA = countCallsBehind(program, "ag");
  EXPECT_GT(ofA, 0u);
  EXPECT_EQ(countCallsBehind(program, "bg"), ofA);
}

/// The attribute is written by hand, and the formula of @a is right.
TEST_F(RepeatedUpdates, AreRejectedForNumbersOfTheirOwn) {
  ASSERT_TRUE(module);
  auto updates =
      llvm::to_vector(getProgram(*module).getBody().front().getOps<SgdOp>());
  SgdOp first = updates[0];
  mlir::OpBuilder builder(first);
  mlir::Operation *before = first->getPrevNode();
  auto values = mlir::cast<CompositeOpInterface>(*first).decompose(builder);
  ASSERT_TRUE(succeeded(values));
  for (mlir::Operation *op = before->getNextNode(); op != first;
       op = op->getNextNode())
    op->setAttr(WeftDialect::kUpdateAttr, builder.getI64IntegerAttr(0));
  first->replaceAllUsesWith(*values);
  first.erase();
  updates[1]->setAttr(
      WeftDialect::kRepeatsAttr,
      mlir::parseAttribute("#weft.repeats<update = 0, states = [@a, @am, @ag], "
                           "results = 0, 1>",
                           &context));
  std::string error;
  mlir::ScopedDiagnosticHandler handler(
      &context,
      [&](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); });
  mlir::PassManager manager(&context);
  manager.addPass(createFusePass());
  EXPECT_TRUE(failed(manager.run(*module)));
  EXPECT_EQ(
      error,
      "'weft.sgd' op expects a formula that computes each element separately");
}

/// Asks about the ops between the update and the end of a program.
class ByElement : public testing::Test {
protected:
  ByElement() {
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect>();
    registerScalarBodies(registry);
    context.appendDialectRegistry(registry);
  }

  bool isByElement(llvm::StringRef body) {
    auto [before, after] = llvm::StringRef(kUpdates).split("  weft.return");
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        (before + body + "\n  weft.return" + after).str(), &context);
    EXPECT_TRUE(module) << body.str();
    if (!module)
      return false;
    mlir::Block &block = getProgram(*module).getBody().front();
    OptimizerOpInterface first = *block.getOps<OptimizerOpInterface>().begin();
    llvm::SmallVector<mlir::Operation *> formula;
    for (mlir::Operation &op : block.without_terminator())
      if (!mlir::isa<ReadOp, OptimizerOpInterface>(op))
        formula.push_back(&op);
    return weft::isByElement(first, formula);
  }

  mlir::MLIRContext context;
};

TEST_F(ByElement, ElementsAndSharedNumbers) {
  EXPECT_TRUE(
      isByElement("%r = weft.sqrt %c : tensor<f32>\n"
                  "%x = weft.mul %a, %r : tensor<4x8xf32>, tensor<f32>\n"
                  "%y = weft.exp %x : tensor<4x8xf32>"));
}

/// Each parameter has its own norm.
TEST_F(ByElement, NumberOfTheTensors) {
  EXPECT_FALSE(
      isByElement("%r = weft.reduce sum %ag dims [0, 1] : tensor<4x8xf32>\n"
                  "%x = weft.mul %a, %r : tensor<4x8xf32>, tensor<f32>"));
}

/// Tensors that other updates read do not belong to this update.
TEST_F(ByElement, TensorsOfOthers) {
  EXPECT_TRUE(
      isByElement("%r = weft.reduce sum %bg dims [0, 1] : tensor<4x8xf32>\n"
                  "%x = weft.mul %a, %r : tensor<4x8xf32>, tensor<f32>"));
}

/// A view is in no kernel, so no call of a repeat would have its own.
TEST_F(ByElement, Views) {
  EXPECT_FALSE(
      isByElement("%v = weft.reshape %a : tensor<4x8xf32> to tensor<32xf32>\n"
                  "%x = weft.exp %v : tensor<32xf32>"));
  EXPECT_FALSE(isByElement("%x = weft.exp %a : tensor<4x8xf32>\n"
                           "%v = weft.reshape %x : tensor<4x8xf32> to "
                           "tensor<32xf32>\n"
                           "%y = weft.exp %v : tensor<32xf32>"));
}

} // namespace
