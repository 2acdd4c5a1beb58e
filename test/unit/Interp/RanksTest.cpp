//===- RanksTest.cpp - The ranks of a module ------------------------------===//

#include "weft/Abi/RankDivisors.h"
#include "weft/Dist/Dist.h"
#include "weft/Interp/Inputs.h"
#include "weft/Interp/NamedStates.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace weft;

namespace {

using Numbers = std::vector<double>;

const char *const collectiveText = R"(
dist.mesh @mesh("replica" = 2, "shard" = 2)
weft.param @flat : tensor<2xf32> {slices = 2, segments = [#weft.segment<@a [2] at 0 to 2>, #weft.segment<@b [1] at 3 to 4>]}
weft.program @micro(%x: tensor<1xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %y = dist.all_gather %x on @mesh : tensor<1xf32> to tensor<4xf32>
  weft.return %y : tensor<4xf32>
}
)";

const char *const meanText = R"(
weft.param @w : tensor<f32> {init = #weft.init<constant, 1.0>}
weft.state @w.grad : tensor<f32> {kind = #weft.state_kind<gradient>, param = @w}
weft.program @micro(%x: tensor<f32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  weft.return %x : tensor<f32> writes @w.grad = %x : tensor<f32>
}
weft.program @apply(%n: tensor<i32> {weft.input = "n"}) -> (tensor<i32> {weft.output = "q"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w : tensor<f32>
  %g = weft.read @w.grad : tensor<f32>
  %new = weft.sub %w, %g : tensor<f32>, tensor<f32>
  %q = weft.div %n, %n : tensor<i32>, tensor<i32>
  weft.return %q : tensor<i32> writes @w = %new : tensor<f32>
}
weft.program @eval() -> (tensor<f32> {weft.output = "w"}) attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}
)";

// FairScale's table: the divisor before the sum, in a mean over so many ranks.
TEST(PreDivide, IsThatOfTheTable) {
  const std::pair<int, double> table[] = {
      {1, 1}, {2, 2},  {3, 2},  {4, 2},  {5, 2},  {6, 4},  {7, 2},   {8, 4},
      {9, 2}, {12, 4}, {16, 4}, {24, 8}, {32, 8}, {64, 8}, {128, 16}};
  for (auto [ranks, pre] : table)
    EXPECT_EQ(choosePreDivide(ranks), pre) << ranks;
  for (int ranks = 1; ranks <= 128; ++ranks) {
    const double pre = choosePreDivide(ranks);
    EXPECT_EQ(pre * (ranks / pre), ranks);
  }
}

class RanksTest : public testing::Test {
protected:
  RanksTest() {
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect, dist::DistDialect>();
    registerInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler(
        [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const char *text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  mlir::MLIRContext context;
  std::string message;
};

Tensor number(double value) { return Tensor::scalar(value, ElementKind::F32); }

std::vector<TensorMap> give(const char *name, Numbers values) {
  std::vector<TensorMap> inputs;
  for (double value : values)
    inputs.push_back({{name, number(value)}});
  return inputs;
}

/// The value of a state or output of each rank.
Numbers stateOfEach(const RanksRunner &ranks, const char *state) {
  Numbers values;
  for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank)
    values.push_back(ranks.getRank(rank).findState(state)->at(0));
  return values;
}

std::vector<TensorMap> divideBy(int64_t n, size_t ranks) {
  return std::vector<TensorMap>(
      ranks, {{"n", Tensor::intScalar(n, ElementKind::I32)}});
}

TEST_F(RanksTest, ListsGroups) {
  auto module = parse(R"(dist.mesh @m("a" = 2, "b" = 3, "c" = 2))");
  dist::MeshOp mesh = dist::findMesh(*module);
  using Groups = llvm::SmallVector<llvm::SmallVector<int64_t>>;
  auto along = [&](const char *axis) {
    return dist::getGroups(mesh, mlir::StringAttr::get(&context, axis));
  };
  EXPECT_EQ(along("c"),
            (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}}));
  EXPECT_EQ(along("b"), (Groups{{0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}}));
  EXPECT_EQ(along("a"),
            (Groups{{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}, {5, 11}}));
  EXPECT_EQ(dist::getGroups(mesh, {}),
            (Groups{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}));
  EXPECT_EQ(dist::getGroups({}, {}), (Groups{{0}}));
}

TEST_F(RanksTest, EachRankHasItsInputsAndOutputs) {
  auto module = parse(collectiveText);
  EXPECT_EQ(countRanks(*module), 4);
  RanksRunner ranks(*module, ComputeMode::F64, 4);
  std::vector<TensorMap> inputs;
  for (double rank : {0, 1, 2, 3})
    inputs.push_back({{"x", Tensor::floats({1}, {rank})}});
  auto outputs = ranks.run("micro", inputs);
  ASSERT_TRUE(succeeded(outputs));
  ASSERT_EQ(outputs->size(), 4u);
  for (TensorMap &output : *outputs)
    EXPECT_EQ(output.at("y").floatValues(), (Numbers{0, 1, 2, 3}));
  inputs.pop_back();
  EXPECT_TRUE(failed(ranks.run("micro", inputs)));
  EXPECT_EQ(message, "expects inputs of 4 ranks, but got 3");
}

TEST_F(RanksTest, ACollectiveWantsAllRanks) {
  auto module = parse(collectiveText);
  Interpreter one(*module);
  EXPECT_TRUE(failed(one.run("micro", {{"x", Tensor::floats({1}, {1})}})));
  EXPECT_EQ(message, "'dist.all_gather' op expects all ranks of the mesh, 4, "
                     "to run in turn, but got 1");
}

TEST_F(RanksTest, SetsAndReadsSlicesAsWholeTensors) {
  auto module = parse(collectiveText);
  RanksRunner ranks(*module, ComputeMode::F64, 4);
  auto none = findNamedState(ranks, "a");
  ASSERT_TRUE(succeeded(none));
  EXPECT_FALSE(*none);
  EXPECT_EQ(getNamedParameters(ranks), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(
      succeeded(setNamedState(ranks, "a", Tensor::floats({2}, {5, 6}))));
  ASSERT_TRUE(succeeded(setNamedState(ranks, "b", Tensor::floats({1}, {7}))));
  for (int64_t rank : {0, 2})
    EXPECT_EQ(ranks.getRank(rank).findState("flat")->floatValues(),
              (Numbers{5, 6}));
  for (int64_t rank : {1, 3})
    EXPECT_EQ(ranks.getRank(rank).findState("flat")->floatValues(),
              (Numbers{0, 7}));
  auto states = getNamedStates(ranks);
  ASSERT_TRUE(succeeded(states));
  EXPECT_EQ(states->size(), 2u);
  EXPECT_EQ(states->at("a").floatValues(), (Numbers{5, 6}));
  EXPECT_EQ(states->at("b").floatValues(), (Numbers{7}));
  // The gap may differ, the segment behind it may not.
  ModuleRunner &last = ranks.getRank(3);
  ASSERT_TRUE(succeeded(last.setState("flat", Tensor::floats({2}, {9, 7}))));
  EXPECT_TRUE(succeeded(getNamedStates(ranks)));
  ASSERT_TRUE(succeeded(last.setState("flat", Tensor::floats({2}, {9, 8}))));
  EXPECT_TRUE(failed(findNamedState(ranks, "b")));
  EXPECT_EQ(message, "expects '@b' to be equal on all ranks that store it, but "
                     "got other elements on ranks 1 and 3");
}

TEST_F(RanksTest, ZerosOfBothSignsDiffer) {
  auto module = parse(meanText);
  RanksRunner ranks(*module, ComputeMode::F64, 2);
  ASSERT_TRUE(succeeded(ranks.getRank(0).setState("w", number(0.0))));
  EXPECT_TRUE(succeeded(ranks.getRank(1).setState("w", number(-0.0))));
  EXPECT_TRUE(failed(findNamedState(ranks, "w")));
}

// Without collectives, apply begins with the mean of the ranks' gradients.
TEST_F(RanksTest, AppliesTheMeanOfGradients) {
  auto module = parse(meanText);
  EXPECT_EQ(countRanks(*module), 1);
  RanksRunner ranks(*module, ComputeMode::F64, 3);
  ASSERT_TRUE(succeeded(ranks.initialize(0)));
  auto losses = ranks.run("micro", give("x", {1, 2, 6}));
  ASSERT_TRUE(succeeded(losses));
  EXPECT_EQ(losses->at(2).at("loss").at(0), 6);
  EXPECT_EQ(stateOfEach(ranks, "w.grad"), (Numbers{1, 2, 6}));
  auto mean = findNamedState(ranks, "w.grad");
  ASSERT_TRUE(succeeded(mean));
  EXPECT_EQ((*mean)->at(0), 3);
  ASSERT_TRUE(succeeded(ranks.run("apply", divideBy(1, 3))));
  EXPECT_EQ(stateOfEach(ranks, "w.grad"), (Numbers{3, 3, 3}));
  EXPECT_EQ(stateOfEach(ranks, "w"), (Numbers{-2, -2, -2}));
}

TEST_F(RanksTest, WritesNothingWhenAProgramFails) {
  auto module = parse(meanText);
  RanksRunner ranks(*module, ComputeMode::F64, 3);
  ASSERT_TRUE(succeeded(ranks.initialize(0)));
  ASSERT_TRUE(succeeded(ranks.run("micro", give("x", {1, 2, 6}))));
  std::vector<TensorMap> inputs = divideBy(1, 3);
  inputs[2] = divideBy(0, 1).front();
  EXPECT_TRUE(failed(ranks.run("apply", inputs)));
  EXPECT_EQ(message, "on rank 2");
  EXPECT_EQ(stateOfEach(ranks, "w.grad"), (Numbers{1, 2, 6}));
  EXPECT_EQ(stateOfEach(ranks, "w"), (Numbers{1, 1, 1}));
}

// Numbers are divided by 2, added up in f32 and divided by 1.5.
TEST_F(RanksTest, RoundsTheMeanAsACollectiveDoes) {
  auto module = parse(meanText);
  RanksRunner ranks(*module, ComputeMode::F32, 3);
  for (int64_t rank = 0; rank < 3; ++rank)
    ASSERT_TRUE(succeeded(ranks.getRank(rank).setState(
        "w.grad", number(rank == 0 ? 33554432 : 2))));
  auto mean = findNamedState(ranks, "w.grad");
  ASSERT_TRUE(succeeded(mean));
  // 2^24 + 1 is 2^24, twice; of 2^24 + 2 it would be 11184812.
  EXPECT_EQ((*mean)->at(0), 11184811);
}

TEST_F(RanksTest, FindsWhatIsGivenForOneRank) {
  std::map<std::string, int> given = {{"x", 1}, {"rank2/x", 5}};
  EXPECT_EQ(nameOfRank("x", 2), "rank2/x");
  EXPECT_EQ(*findOfRank(given, "x", 2), 5);
  EXPECT_EQ(*findOfRank(given, "x", 20), 1);
  EXPECT_EQ(findOfRank(given, "y", 2), nullptr);
}

} // namespace
