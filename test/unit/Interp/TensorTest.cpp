//===- TensorTest.cpp - Values of the reference interpreter ---------------===//

#include "weft/Interp/Tensor.h"
#include "weft/Interp/Compare.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace weft;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

TEST(Tensor, RoundsToTheNearestEvenValueOfItsKind) {
  double third = 1.0 / 3;
  EXPECT_EQ(roundTo(ElementKind::F64, third), third);
  EXPECT_EQ(roundTo(ElementKind::F32, third), double(1.0f / 3.0f));
  EXPECT_EQ(roundTo(ElementKind::BF16, 1 + 1.0 / 256), 1); // tie: even
  EXPECT_EQ(roundTo(ElementKind::BF16, 1 + 3.0 / 256),
            1 + 1.0 / 64); // tie: even
  EXPECT_EQ(roundTo(ElementKind::F16, 65519), 65504);
  EXPECT_EQ(roundTo(ElementKind::F16, 65520), inf);
  EXPECT_TRUE(std::isnan(roundTo(ElementKind::F16, nan)));
}

TEST(Tensor, WrapsIntegersToTheirWidth) {
  EXPECT_EQ(wrapTo(ElementKind::I32, int64_t(1) << 31), INT32_MIN);
  EXPECT_EQ(wrapTo(ElementKind::I32, -5), -5);
  EXPECT_EQ(wrapTo(ElementKind::I1, 2), 0);
  EXPECT_EQ(wrapTo(ElementKind::I64, INT64_MIN), INT64_MIN);
}

TEST(Tensor, KnowsTypes) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  EXPECT_EQ(elementKindOf(builder.getBF16Type()), ElementKind::BF16);
  EXPECT_EQ(elementKindOf(builder.getI1Type()), ElementKind::I1);
  EXPECT_FALSE(elementKindOf(builder.getIntegerType(8)));
  auto type = mlir::RankedTensorType::get({2, 3}, builder.getF32Type());
  Tensor tensor(type);
  EXPECT_TRUE(tensor.hasType(type));
  EXPECT_FALSE(tensor.renamed(ElementKind::F64).hasType(type));
  EXPECT_EQ(tensor.typeText(), "2x3xf32");
  EXPECT_EQ(tensor.size(), 6);
  EXPECT_EQ(Tensor::scalar(1).size(), 1);
  EXPECT_EQ(Tensor({0, 3}, ElementKind::I64).size(), 0);
}

TEST(Tensor, PrintsNestedAndCutsLongDimensions) {
  EXPECT_EQ(Tensor::floats({2, 2}, {1, -0.5, inf, nan}).text(),
            "[[1, -0.5], [inf, nan]]");
  EXPECT_EQ(Tensor::ints({3}, {1, 2, 3}).text(2), "[1, 2, ...]");
  EXPECT_EQ(Tensor::intScalar(-7).text(), "-7");
}

TEST(Tensor, VisitsIndicesInRowMajorOrder) {
  std::vector<std::vector<int64_t>> seen;
  forEachIndex({2, 1, 2},
               [&](llvm::ArrayRef<int64_t> i) { seen.push_back(i.vec()); });
  std::vector<std::vector<int64_t>> expected = {
      {0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1}};
  EXPECT_EQ(seen, expected);
  int calls = 0;
  forEachIndex({}, [&](llvm::ArrayRef<int64_t>) { ++calls; });
  EXPECT_EQ(calls, 1); // a scalar has one element
  forEachIndex({3, 0}, [&](llvm::ArrayRef<int64_t>) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(Tensor, BroadcastsFromTheLastDimension) {
  EXPECT_EQ(broadcastOffset({3}, {5, 2}), 2);
  EXPECT_EQ(broadcastOffset({4, 1}, {3, 2}), 3);
  EXPECT_EQ(broadcastOffset({}, {3, 2}), 0);
  EXPECT_EQ(broadcastOffset({4, 3}, {3, 2}), 11);
  EXPECT_EQ(stridesOf({4, 3, 2}), (std::vector<int64_t>{6, 2, 1}));
}

TEST(CompareTensors, IsRelativeToTheLargestMagnitude) {
  Tensor a = Tensor::floats({2}, {1000, 0});
  Tensor b = Tensor::floats({2}, {1000, 1});
  EXPECT_TRUE(compareTensors(a, b, 1e-3).isEqual);
  TensorDifference difference = compareTensors(a, b, 0.9e-3);
  EXPECT_FALSE(difference.isEqual);
  EXPECT_EQ(difference.maxAbs, 1);
  EXPECT_EQ(difference.maxRel, 1e-3);
}

TEST(CompareTensors, ComparesNoiseAbsolutely) {
  Tensor a = Tensor::floats({1}, {1e-20}), b = Tensor::floats({1}, {-3e-20});
  EXPECT_TRUE(compareTensors(a, b, 1e-12).isEqual);
  EXPECT_FALSE(compareTensors(a, b, 0).isEqual);
}

TEST(CompareTensors, NeverHidesWhatIsNotFinite) {
  Tensor one = Tensor::scalar(1), bad = Tensor::scalar(nan);
  Tensor up = Tensor::scalar(inf), down = Tensor::scalar(-inf);
  EXPECT_FALSE(compareTensors(one, bad, 1e9).isEqual);
  EXPECT_FALSE(compareTensors(bad, one, 1e9).isEqual);
  EXPECT_FALSE(compareTensors(up, down, 1e9).isEqual);
  EXPECT_FALSE(compareTensors(up, one, 1e9).isEqual);
  EXPECT_TRUE(compareTensors(bad, bad, 0).isEqual);
  EXPECT_TRUE(compareTensors(up, up, 0).isEqual);
  EXPECT_FALSE(compareTensors(one, Tensor::floats({1}, {1}), 1).isEqual);
  EXPECT_FALSE(compareTensors(one, Tensor::intScalar(1), 1).isEqual);
}

} // namespace
