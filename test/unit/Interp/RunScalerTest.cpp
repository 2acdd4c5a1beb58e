//===- RunScalerTest.cpp - Traces of the loss scale -----------------------===//
//
// The traces of PyTorch's GradScaler, DeepSpeed's DynamicLossScaler and mmcv's
// LossScaler for the same overflows.
//
//===----------------------------------------------------------------------===//

#include "weft/Interp/Interp.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace weft;

namespace {

/// One scaler whose steps are run by the interpreter.
class Scaler {
public:
  Scaler(const std::string &attributes, double scale,
         std::vector<int64_t> state, ComputeMode mode = ComputeMode::F32)
      : scale(scale), state(std::move(state)) {
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect>();
    registerInterpreter(registry);
    context.appendDialectRegistry(registry);
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "weft.program @p(%s: tensor<f32> {weft.input = \"s\"}, "
        "%c: tensor<3xi64> {weft.input = \"c\"}, "
        "%b: tensor<i1> {weft.input = \"b\"}) "
        "attributes {kind = #weft.kind<apply>} {\n"
        "  %r:3 = weft.scaler_update %s, %c, %b by #weft.scaler<" +
            attributes + ">\n  weft.return\n}",
        &context);
    interpreter.emplace(*module, mode);
    module->walk([&](ScalerUpdateOp update) { op = update; });
  }

  void step(bool foundInf) {
    auto results = interpreter->evaluateOp(
        op, {Tensor::scalar(scale), Tensor::ints({3}, state, ElementKind::I64),
             Tensor::ints({}, {foundInf}, ElementKind::I1)});
    ASSERT_TRUE(succeeded(results));
    scale = (*results)[0].at(0);
    state = (*results)[1].intValues();
    exhausted = (*results)[2].intAt(0);
  }

  /// The scale after each step.
  std::vector<double> trace(const std::vector<int> &overflows) {
    std::vector<double> scales;
    for (int overflow : overflows) {
      step(overflow);
      scales.push_back(scale);
      trackers.push_back(state[0]);
    }
    return scales;
  }

  double scale;
  std::vector<int64_t> state, trackers;
  bool exhausted = false;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<Interpreter> interpreter;
  ScalerUpdateOp op;
};

/// Without minimum and hysteresis of the policy, unless they are given.
std::string policy(const std::string &name, const std::string &numbers) {
  std::string text = name + ", " + numbers;
  for (const char *number : {"minimum = 0.0", "hysteresis = 1"})
    if (numbers.find(std::string(number).substr(0, 7)) == std::string::npos)
      text += std::string(", ") + number;
  return text;
}

using Scales = std::vector<double>;
using Trackers = std::vector<int64_t>;

const std::vector<int> kOverflows = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0};
const char *const kTwice = "growth = 2.0, backoff = 0.5, interval = 3";
const char *const kDefaults = "growth = 2.0, backoff = 0.5, interval = 2000";

TEST(Scaler, GrowsAfterTheIntervalAndShrinksAtOnce) {
  Scaler scaler(policy("torch", "growth = 2.0, backoff = 0.25, "
                                "interval = 2"),
                4, {0, 0, 0});
  EXPECT_EQ(scaler.trace({0, 0, 1}), (Scales{4, 8, 2}));
  EXPECT_EQ(scaler.trackers, (Trackers{1, 0, 0}));
}

TEST(Scaler, GrowsFromACountBeyondTheInterval) {
  Scaler scaler(policy("torch", "growth = 2.0, backoff = 0.5, interval = 3"),
                16, {4, 0, 0});
  EXPECT_EQ(scaler.trace({0, 0, 0, 0}), (Scales{32, 32, 32, 64}));
  EXPECT_EQ(scaler.trackers, (Trackers{0, 1, 2, 0}));
}

TEST(Scaler, FollowsTorch) {
  Scaler scaler(policy("torch", kTwice), 16, {0, 0, 0});
  EXPECT_EQ(scaler.trace(kOverflows),
            (Scales{16, 16, 32, 16, 16, 16, 8, 4, 4, 4, 8}));
  EXPECT_EQ(scaler.trackers, (Trackers{1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0}));
  EXPECT_EQ(scaler.state, (Trackers{0, 0, 0}));
}

TEST(Scaler, FollowsMmcv) {
  Scaler scaler(policy("mmcv", std::string(kTwice) + ", minimum = 1.0"), 16,
                {0, -1, 1});
  EXPECT_EQ(scaler.trace(kOverflows),
            (Scales{16, 16, 32, 16, 16, 16, 8, 4, 4, 4, 8}));
  EXPECT_EQ(scaler.state, (Trackers{11, 7, 1}));
}

TEST(Scaler, FollowsDeepSpeedWithHysteresis) {
  Scaler scaler(policy("deepspeed",
                       std::string(kTwice) + ", hysteresis = 2, minimum = 1.0"),
                16, {0, -1, 2});
  EXPECT_EQ(scaler.trace(kOverflows),
            (Scales{16, 16, 32, 32, 32, 32, 16, 8, 8, 8, 16}));
  // Growth has refilled the hysteresis.
  EXPECT_EQ(scaler.state, (Trackers{11, 7, 2}));
}

TEST(Scaler, FollowsDeepSpeedWithConsecutiveHysteresis) {
  Scaler scaler(policy("deepspeed", std::string(kTwice) +
                                        ", hysteresis = 2, minimum = 1.0, "
                                        "consecutive = true"),
                16, {0, -1, 2});
  EXPECT_EQ(scaler.trace(kOverflows),
            (Scales{16, 16, 32, 32, 32, 32, 32, 16, 16, 16, 32}));
  EXPECT_EQ(scaler.state, (Trackers{11, 7, 2}));
}

TEST(Scaler, FollowsFusedDeepSpeed) {
  Scaler scaler(
      policy("deepspeed_fused", std::string(kTwice) + ", minimum = 1.0"), 16,
      {0, -1, 1});
  EXPECT_EQ(scaler.trace(kOverflows),
            (Scales{16, 16, 16, 8, 8, 8, 4, 2, 2, 2, 2}));
  EXPECT_EQ(scaler.state, (Trackers{11, 7, 1}));
  EXPECT_EQ(scaler.trace({0}), (Scales{4})); // the fourth clean step
}

TEST(Scaler, FollowsColossalAI) {
  Scaler scaler(policy("colossalai",
                       std::string(kTwice) + ", hysteresis = 2, minimum = 1.0"),
                16, {0, 0, 2});
  EXPECT_EQ(scaler.trace(kOverflows),
            (Scales{16, 16, 32, 32, 32, 32, 16, 8, 8, 8, 16}));
  EXPECT_EQ(scaler.state, (Trackers{0, 0, 2}));
}

TEST(Scaler, HasTorchsDefaults) {
  Scaler scaler(policy("torch", kDefaults), 65536, {0, 0, 0});
  std::vector<int> clean(2000, 0), almost(1999, 0);
  scaler.trace(clean);
  EXPECT_EQ(scaler.scale, 131072);
  EXPECT_EQ(scaler.state[0], 0);

  Scaler interrupted(policy("torch", kDefaults), 65536, {0, 0, 0});
  interrupted.trace(almost);
  interrupted.step(true);
  interrupted.trace(almost);
  EXPECT_EQ(interrupted.scale, 32768);
  EXPECT_EQ(interrupted.state[0], 1999);
  interrupted.step(false);
  EXPECT_EQ(interrupted.scale, 65536);
}

/// Also in f64 mode: the scale is an f32 number.
TEST(Scaler, StaysFinite) {
  for (ComputeMode mode : {ComputeMode::F32, ComputeMode::F64}) {
    Scaler scaler(policy("torch", "growth = 16.0, backoff = 0.5, "
                                  "interval = 1"),
                  1e38f, {0, 0, 0}, mode);
    EXPECT_EQ(scaler.trace({0, 0}), (Scales{1e38f, 1e38f}));
    EXPECT_EQ(scaler.trackers, (Trackers{0, 0}));
  }
  Scaler scaler(policy("torch", "growth = 2.0, backoff = 0.5, "
                                "interval = 1"),
                128, {0, 0, 0});
  EXPECT_EQ(scaler.trace({0, 0, 0, 1}).back(), 512);
}

TEST(Scaler, IsExhaustedAtTheMinimum) {
  Scaler scaler(policy("deepspeed", std::string(kTwice) + ", minimum = 1.0"), 4,
                {0, -1, 1});
  EXPECT_EQ(scaler.trace({1, 1}), (Scales{2, 1}));
  EXPECT_FALSE(scaler.exhausted);
  scaler.step(true);
  EXPECT_EQ(scaler.scale, 1);
  EXPECT_TRUE(scaler.exhausted);

  // The others, where they have a minimum.
  for (const char *name : {"mmcv", "torch"}) {
    Scaler other(policy(name, std::string(kTwice) + ", minimum = 1.5"), 4,
                 {0, -1, 1});
    EXPECT_EQ(other.trace({1, 1}), (Scales{2, 1.5}));
    EXPECT_FALSE(other.exhausted);
    EXPECT_EQ(other.trace({1}), (Scales{1.5}));
    EXPECT_TRUE(other.exhausted);
    other.step(false);
    EXPECT_FALSE(other.exhausted);
  }
}

TEST(Scaler, OfTorchReachesZeroInF32) {
  for (ComputeMode mode : {ComputeMode::F32, ComputeMode::F64}) {
    Scaler scaler(policy("torch", kDefaults), 1, {0, 0, 0}, mode);
    scaler.trace(std::vector<int>(149, 1));
    EXPECT_EQ(scaler.scale, std::ldexp(1.0, -149));
    EXPECT_FALSE(scaler.exhausted);
    scaler.step(true);
    EXPECT_EQ(scaler.scale, 0);
    EXPECT_TRUE(scaler.exhausted);
  }
}

} // namespace
