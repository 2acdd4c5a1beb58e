//===- RunRandom.cpp - Philox draws ---------------------------------------===//

#include "OpFunctions.h"

#include "weft/Abi/Philox.h"

using namespace mlir;
using namespace weft;

static PhiloxKey keyOf(int64_t seed, StringRef name) {
  return philoxKey(static_cast<uint64_t>(seed),
                   philoxNameHash(name.data(), name.size()));
}

// In f32 and in this order in both modes: the values of Philox.h.
double weft::drawNormal(int64_t seed, StringRef key, int64_t element,
                        double mean, double std) {
  float draw = philoxNormal(keyOf(seed, key), /*row=*/0, element);
  return static_cast<float>(mean) + static_cast<float>(std) * draw;
}

double weft::drawUniform(int64_t seed, StringRef key, int64_t element,
                         double low, double high) {
  float draw = philoxUnit(philoxNumber(keyOf(seed, key), /*row=*/0, element));
  return static_cast<float>(low) + static_cast<float>(high - low) * draw;
}

double weft::drawInitial(InitAttr init, StringRef name, int64_t seed,
                         int64_t index) {
  switch (init.getKind()) {
  case InitKind::Zeros:
    return 0;
  case InitKind::Ones:
    return 1;
  case InitKind::Constant:
    return init.getFirst();
  case InitKind::Normal:
    return drawNormal(seed, name, index, init.getFirst(), init.getSecond());
  case InitKind::Uniform:
    return drawUniform(seed, name, index, init.getFirst(), init.getSecond());
  }
  llvm_unreachable("all kinds of initial values are handled");
}

static LogicalResult evaluateRandomNormal(OpCall &call) {
  auto op = call.as<RandomNormalOp>();
  for (int64_t i = 0; i < call.result().size(); ++i)
    call.result().at(i) = drawNormal(call.operand(0).intAt(0), op.getKey(), i,
                                     op.getMean().convertToDouble(),
                                     op.getStd().convertToDouble());
  return success();
}

static LogicalResult evaluateRandomUniform(OpCall &call) {
  auto op = call.as<RandomUniformOp>();
  for (int64_t i = 0; i < call.result().size(); ++i)
    call.result().at(i) = drawUniform(call.operand(0).intAt(0), op.getKey(), i,
                                      op.getLow().convertToDouble(),
                                      op.getHigh().convertToDouble());
  return success();
}

static LogicalResult evaluateRandomSlice(OpCall &call) {
  Tensor &slice = call.result();
  const int64_t seed = call.operand(0).intAt(0);
  const int64_t first = call.operand(1).intAt(0) * slice.size();
  for (int64_t i = 0; i < slice.size(); ++i)
    slice.at(i) = 0;
  for (auto draw : call.as<RandomSliceOp>().getDraws().getAsRange<DrawAttr>())
    for (int64_t i = std::max(draw.getBegin(), first),
                 end = std::min(draw.getEnd(), first + slice.size());
         i < end; ++i)
      slice.at(i - first) =
          drawInitial(draw.getInit(), draw.getKey(), seed, i - draw.getBegin());
  return success();
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

DropoutMask::DropoutMask(const Tensor &rng, int64_t opId, double p,
                         ComputeMode mode)
    : seed(rng.intAt(0)), firstRow(rng.intAt(1)), opId(opId), p(p),
      keepScale(getKeepScale(p, mode)) {}

double DropoutMask::getKeepScale(double p, ComputeMode mode) {
  return mode == ComputeMode::F64 && p < 1 ? 1 / (1 - p) : philoxKeepScale(p);
}

double DropoutMask::factor(int64_t row, int64_t element) const {
  uint32_t number =
      philoxNumber(philoxKey(seed, opId), firstRow + row, element);
  return philoxKeeps(number, philoxDropThreshold(p)) ? keepScale : 0;
}

/// Fails unless an op that draws with a probability has its `rng` operand.
template <typename OpT> static LogicalResult requireRng(OpCall &call, OpT op) {
  if (op.getRng())
    return success();
  return call.fail() << "expects an rng operand where p is not 0; run "
                        "weft-derive-programs";
}

static LogicalResult evaluateDropout(OpCall &call) {
  auto op = call.as<DropoutOp>();
  double p = op.getP().convertToDouble();
  const Tensor &x = call.operand(0);
  if (p == 0) {
    call.result() = x;
    return success();
  }
  if (failed(requireRng(call, op)))
    return failure();
  DropoutMask mask(call.operand(1), static_cast<int64_t>(op.getOpId()), p,
                   call.interpreter.getMode());
  int64_t rowSize = x.rank() ? x.size() / x.dim(0) : 1;
  for (int64_t i = 0; i < x.size(); ++i) {
    // A dropped element is 0 even where the operand is not finite.
    double factor = mask.factor(i / rowSize, i % rowSize);
    call.result().at(i) = factor == 0 ? 0 : factor * x.at(i);
  }
  return success();
}

static LogicalResult evaluateLayerDrop(OpCall &call) {
  auto op = call.as<LayerDropOp>();
  double p = op.getP().convertToDouble();
  bool isDropped = false;
  if (p != 0) {
    if (failed(requireRng(call, op)))
      return failure();
    const Tensor &rng = call.operand(2);
    PhiloxKey key = philoxKey(rng.intAt(0), op.getOpId());
    isDropped = !philoxKeeps(philoxNumber(key, rng.intAt(1), /*element=*/0),
                             philoxDropThreshold(p));
  }
  call.result(0) = call.operand(isDropped ? 0 : 1);
  call.result(1).intAt(0) = isDropped;
  return success();
}

//===----------------------------------------------------------------------===//
// Single numbers
//===----------------------------------------------------------------------===//

static LogicalResult evaluatePhilox(OpCall &call) {
  bool isNormal = call.as<PhiloxOp>().getKind() == PhiloxKind::Normal;
  int64_t position = 0;
  forEachIndex(call.result().shape(), [&](ArrayRef<int64_t> index) {
    uint64_t numbers[4]; // seed, stream, row, element
    for (auto [operand, number] : llvm::zip(call.operands, numbers))
      number = operand->intAt(broadcastOffset(operand->shape(), index));
    PhiloxKey key = philoxKey(numbers[0], numbers[1]);
    call.result().at(position++) =
        isNormal ? philoxNormal(key, numbers[2], numbers[3])
                 : philoxUnit(philoxNumber(key, numbers[2], numbers[3]));
  });
  return success();
}

void weft::addRandomOps(MLIRContext *context) {
  interpretAs<PhiloxOp>(context, evaluatePhilox);
  interpretAs<RandomNormalOp>(context, evaluateRandomNormal);
  interpretAs<RandomSliceOp>(context, evaluateRandomSlice);
  interpretAs<RandomUniformOp>(context, evaluateRandomUniform);
  interpretAs<DropoutOp>(context, evaluateDropout);
  interpretAs<LayerDropOp>(context, evaluateLayerDrop);
}
