//===- OptimizersTest.cpp - Rules of every optimizer ----------------------===//
//
// The optimizers are the ops with OptimizerOpInterface: a new one is tested
// here without a line of its own.
//
//===----------------------------------------------------------------------===//

#include "weft/Weft/Optimizers.h"
#include "weft/Abi/Names.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"
#include "weft/Interp/Inputs.h"
#include "weft/Training/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <set>

using namespace weft;

namespace {

class Optimizers : public testing::Test {
protected:
  Optimizers() {
    mlir::DialectRegistry registry;
    registerOptimizerFormulas(registry);
    registry.insert<WeftDialect>();
    registerInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<WeftDialect>();
  }

  /// The update of a parameter by that optimizer; the module keeps it alive.
  OptimizerOpInterface expand(const OptimizerInfo &optimizer) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "weft.param @w : tensor<4x2xf32>\n"
        "weft.state @w.grad : tensor<4x2xf32> "
        "{kind = #weft.state_kind<gradient>, param = @w}\n"
        "weft.program @init() attributes {kind = #weft.kind<init>} {\n"
        "  weft.return\n"
        "}",
        &context);
    mlir::PassManager passes(&context);
    ExpandOptimizerPassOptions options;
    options.optimizer = optimizer.name.str();
    passes.addPass(createExpandOptimizerPass(options));
    EXPECT_TRUE(succeeded(passes.run(*module)));
    OptimizerOpInterface found;
    module->walk([&](OptimizerOpInterface op) { found = op; });
    return found;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(Optimizers, TheDefaultComesFirst) {
  ASSERT_GE(getOptimizers().size(), 3u);
  EXPECT_EQ(getOptimizers().front()->name, kDefaultOptimizer);
  EXPECT_EQ(spellDefaultDecays(), "0.01 for adamw, 0 for adam and sgd");
  EXPECT_EQ(spellOptimizers(), "adamw, adam or sgd");
}

/// The inputs of a run to apply are the numbers of the optimizers.
TEST_F(Optimizers, ARunKnowsEachNumber) {
  EXPECT_EQ(getOptimizerNumbers().front(), names::kLr);
  std::set<std::string> run = {names::kLr,    names::kWeightDecay,
                               names::kBeta1, names::kBeta2,
                               names::kEps,   names::kMomentum};
  std::set<std::string> numbers;
  for (llvm::StringRef number : getOptimizerNumbers())
    numbers.insert(number.str());
  EXPECT_EQ(numbers, run);
}

/// A single default is the flag's; of several, defaults above 0 have an input.
TEST_F(Optimizers, DecaysOfTheirOwn) {
  const OptimizerInfo *adamw = findOptimizer("adamw"),
                      *adam = findOptimizer("adam"),
                      *sgd = findOptimizer("sgd");
  for (const OptimizerInfo *one : {adamw, adam, sgd})
    EXPECT_EQ(getDecayInput(*one, {one}), names::kWeightDecay);
  EXPECT_EQ(getDecayInput(*adam, {adam, sgd}), names::kWeightDecay);
  EXPECT_EQ(getDecayInput(*adamw, {adamw, adam, sgd}), "adamw_weight_decay");
  EXPECT_EQ(getDecayInput(*sgd, {adamw, sgd}), names::kWeightDecay);
  for (llvm::StringRef decay : {"weight_decay", "adamw_weight_decay"})
    EXPECT_TRUE(isDecayInput(decay)) << decay.str();
  for (llvm::StringRef other : {"lr", "adamw", "adamw_lr", "x_weight_decay"})
    EXPECT_FALSE(isDecayInput(other)) << other.str();
}

TEST_F(Optimizers, OperandsHaveTheNamesOfStatesAndInputs) {
  for (const OptimizerInfo *optimizer : getOptimizers()) {
    SCOPED_TRACE(optimizer->name.str());
    OptimizerOpInterface update = expand(*optimizer);
    ASSERT_TRUE(update);
    EXPECT_EQ(&update.getOptimizer(), optimizer);
    ASSERT_EQ(update.getStates().size(), optimizer->states.size());
    for (auto [name, state] : llvm::zip(optimizer->states, update.getStates()))
      EXPECT_EQ(state.getDefiningOp<ReadOp>().getSource(), "w." + name.str());
    EXPECT_EQ(update.getParam().getDefiningOp<ReadOp>().getSource(), "w");
    EXPECT_EQ(update.getGrad().getDefiningOp<ReadOp>().getSource(), "w.grad");
    EXPECT_TRUE(update.getCoef().getDefiningOp<ClipCoefficientOp>());
    EXPECT_TRUE(update.getSkip().getDefiningOp<NormAndCheckOp>());
    EXPECT_TRUE(update.getStep().getDefiningOp<StepIncrementOp>());
    EXPECT_EQ(optimizer->numbers.front(), names::kLr);
    EXPECT_TRUE(llvm::is_contained(optimizer->numbers, names::kWeightDecay));
    auto program = update->getParentOfType<ProgramOp>();
    ASSERT_EQ(update.getNumbers().size(), optimizer->numbers.size());
    for (auto [name, number] :
         llvm::zip(optimizer->numbers, update.getNumbers()))
      EXPECT_EQ(number, program.findInput(name)) << name.str();
  }
}

TEST_F(Optimizers, EachRunsInTheInterpreterAndHasAFormula) {
  for (const OptimizerInfo *optimizer : getOptimizers()) {
    SCOPED_TRACE(optimizer->name.str());
    OptimizerOpInterface update = expand(*optimizer);
    EXPECT_TRUE(llvm::isa<InterpretedOpInterface>(update.getOperation()));
    EXPECT_TRUE(canGenerate(update));
  }
}

/// Inputs that are made up decay as the default optimizer does.
TEST_F(Optimizers, TheInterpreterKnowsTheDefaultDecay) {
  for (const OptimizerInfo *optimizer : getOptimizers()) {
    SCOPED_TRACE(optimizer->name.str());
    expand(*optimizer);
    Interpreter interpreter(*module);
    auto apply = findProgram(interpreter, ProgramKind::Apply);
    ASSERT_TRUE(apply);
    TensorMap inputs = makeInputs(*apply, /*seed=*/0);
    EXPECT_EQ(inputs.at(names::kWeightDecay).floatValues().front(),
              getOptimizers().front()->defaultDecay);
  }
}

TEST_F(Optimizers, EachTakesAWorkingCopy) {
  for (const OptimizerInfo *optimizer : getOptimizers()) {
    SCOPED_TRACE(optimizer->name.str());
    OptimizerOpInterface update = expand(*optimizer);
    EXPECT_FALSE(update.getWorking());
    mlir::OpBuilder builder(&context);
    mlir::Value copy = update.addWorkingCopy(builder, builder.getF16Type());
    auto updated = copy.getDefiningOp<OptimizerOpInterface>();
    EXPECT_EQ(updated.getWorking(), copy);
    EXPECT_TRUE(succeeded(mlir::verify(updated)));
  }
}

} // namespace
