//===- RunRandom.cpp - Philox draws ---------------------------------------===//

#include "OpFunctions.h"

#include "weft/Abi/Philox.h"

namespace weft {

static PhiloxKey keyOf(int64_t seed, llvm::StringRef name) {
  return philoxKey(static_cast<uint64_t>(seed),
                   philoxNameHash(name.data(), name.size()));
}

// In f32 and in this order in both modes: the values of Philox.h.
double drawNormal(int64_t seed, llvm::StringRef key, int64_t element,
                  double mean, double std) {
  float draw = philoxNormal(keyOf(seed, key), /*row=*/0, element);
  return static_cast<float>(mean) + static_cast<float>(std) * draw;
}

double drawUniform(int64_t seed, llvm::StringRef key, int64_t element,
                   double low, double high) {
  float draw = philoxUnit(philoxNumber(keyOf(seed, key), /*row=*/0, element));
  return static_cast<float>(low) + static_cast<float>(high - low) * draw;
}

double drawInitial(InitAttr init, llvm::StringRef name, int64_t seed,
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

static llvm::LogicalResult evaluateRandomNormal(OpCall &call) {
  auto op = call.as<RandomNormalOp>();
  for (int64_t i = 0; i < call.result().size(); ++i)
    call.result().at(i) = drawNormal(call.operand(0).intAt(0), op.getKey(), i,
                                     op.getMean().convertToDouble(),
                                     op.getStd().convertToDouble());
  return llvm::success();
}

static llvm::LogicalResult evaluateRandomUniform(OpCall &call) {
  auto op = call.as<RandomUniformOp>();
  for (int64_t i = 0; i < call.result().size(); ++i)
    call.result().at(i) = drawUniform(call.operand(0).intAt(0), op.getKey(), i,
                                      op.getLow().convertToDouble(),
                                      op.getHigh().convertToDouble());
  return llvm::success();
}

static llvm::LogicalResult evaluateRandomSlice(OpCall &call) {
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
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

DropoutMask::DropoutMask(const Tensor &rng, int64_t opId, double p,
                         ComputeMode mode)
    : seed(rng.intAt(0)), firstRow(rng.intAt(1)), opId(opId), p(p),
      keepScale(philoxKeepScale(p)) {
  if (mode == ComputeMode::F64 && p < 1)
    keepScale = 1 / (1 - p);
}

double DropoutMask::factor(int64_t row, int64_t element) const {
  uint32_t number =
      philoxNumber(philoxKey(seed, opId), firstRow + row, element);
  return philoxKeeps(number, philoxDropThreshold(p)) ? keepScale : 0;
}

/// Fails unless an op that draws with a probability has its `rng` operand.
template <typename OpT>
static llvm::LogicalResult requireRng(OpCall &call, OpT op) {
  if (op.getRng())
    return llvm::success();
  return call.fail() << "expects an rng operand where p is not 0; run "
                        "weft-derive-programs";
}

static llvm::LogicalResult evaluateDropout(OpCall &call) {
  auto op = call.as<DropoutOp>();
  double p = op.getP().convertToDouble();
  const Tensor &x = call.operand(0);
  if (p == 0) {
    call.result() = x;
    return llvm::success();
  }
  if (failed(requireRng(call, op)))
    return llvm::failure();
  DropoutMask mask(call.operand(1), static_cast<int64_t>(op.getOpId()), p,
                   call.interpreter.getMode());
  int64_t rowSize = x.rank() ? x.size() / x.dim(0) : 1;
  for (int64_t i = 0; i < x.size(); ++i) {
    // A dropped element is 0 even where the operand is not finite.
    double factor = mask.factor(i / rowSize, i % rowSize);
    call.result().at(i) = factor == 0 ? 0 : factor * x.at(i);
  }
  return llvm::success();
}

static llvm::LogicalResult evaluateLayerDrop(OpCall &call) {
  auto op = call.as<LayerDropOp>();
  double p = op.getP().convertToDouble();
  bool isDropped = false;
  if (p != 0) {
    if (failed(requireRng(call, op)))
      return llvm::failure();
    const Tensor &rng = call.operand(2);
    PhiloxKey key = philoxKey(rng.intAt(0), op.getOpId());
    isDropped = !philoxKeeps(philoxNumber(key, rng.intAt(1), /*element=*/0),
                             philoxDropThreshold(p));
  }
  call.result(0) = call.operand(isDropped ? 0 : 1);
  call.result(1).intAt(0) = isDropped;
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Single numbers
//===----------------------------------------------------------------------===//

static llvm::LogicalResult evaluatePhilox(OpCall &call) {
  bool isNormal = call.as<PhiloxOp>().getKind() == PhiloxKind::Normal;
  int64_t position = 0;
  forEachIndex(call.result().shape(), [&](llvm::ArrayRef<int64_t> index) {
    uint64_t numbers[4]; // seed, stream, row, element
    for (auto [operand, number] : llvm::zip(call.operands, numbers))
      number = operand->intAt(broadcastOffset(operand->shape(), index));
    PhiloxKey key = philoxKey(numbers[0], numbers[1]);
    call.result().at(position++) =
        isNormal ? philoxNormal(key, numbers[2], numbers[3])
                 : philoxUnit(philoxNumber(key, numbers[2], numbers[3]));
  });
  return llvm::success();
}

void addRandomOps(mlir::MLIRContext *context) {
  interpretAs<PhiloxOp>(context, evaluatePhilox);
  interpretAs<RandomNormalOp>(context, evaluateRandomNormal);
  interpretAs<RandomSliceOp>(context, evaluateRandomSlice);
  interpretAs<RandomUniformOp>(context, evaluateRandomUniform);
  interpretAs<DropoutOp>(context, evaluateDropout);
  interpretAs<LayerDropOp>(context, evaluateLayerDrop);
}

} // namespace weft
