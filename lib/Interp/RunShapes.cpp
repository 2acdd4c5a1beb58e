//===- RunShapes.cpp - Reductions and moves of elements -------------------===//

#include "OpFunctions.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static double combine(ReduceKind kind, double total, double element) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return total + element;
  case ReduceKind::Max:
    return std::isnan(total) || total > element ? total : element;
  case ReduceKind::Min:
    return std::isnan(total) || total < element ? total : element;
  }
  llvm_unreachable("all reductions are handled");
}

static double neutral(ReduceKind kind) {
  if (kind == ReduceKind::Max)
    return -std::numeric_limits<double>::infinity();
  return kind == ReduceKind::Min ? std::numeric_limits<double>::infinity() : 0;
}

static LogicalResult evaluateReduce(OpCall &call) {
  auto op = call.as<ReduceOp>();
  Tensor operand = call.castOperand(op.getDtype());
  Tensor &result = call.result();
  // The result's position for an operand index: reduced dimensions have size 1.
  std::vector<int64_t> kept = operand.shape();
  for (int64_t dim : op.getDims())
    kept[dim] = 1;
  for (double &element : result.floatValues())
    element = neutral(op.getKind());
  int64_t position = 0;
  forEachIndex(operand.shape(), [&](ArrayRef<int64_t> index) {
    double &total = result.at(broadcastOffset(kept, index));
    total = combine(op.getKind(), total, operand.at(position++));
  });
  if (op.getKind() == ReduceKind::Mean)
    for (double &element : result.floatValues())
      element /= double(operand.size()) / double(result.size());
  return success();
}

//===----------------------------------------------------------------------===//
// Moves: every result element is one operand element
//===----------------------------------------------------------------------===//

static void copyElement(const Tensor &from, int64_t source, Tensor &to,
                        int64_t destination) {
  if (from.isFloat())
    to.at(destination) = from.at(source);
  else
    to.intAt(destination) = from.intAt(source);
}

/// Flat position of an index.
static int64_t flatten(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t position = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    position = position * shape[axis] + index[axis];
  return position;
}

/// Fills the result by asking for the operand position of each result index.
static LogicalResult
gatherElements(OpCall &call, function_ref<int64_t(ArrayRef<int64_t>)> source) {
  int64_t position = 0;
  forEachIndex(call.result().shape(), [&](ArrayRef<int64_t> index) {
    copyElement(call.operand(0), source(index), call.result(), position++);
  });
  return success();
}

static LogicalResult evaluateBroadcast(OpCall &call) {
  return gatherElements(call, [&](ArrayRef<int64_t> index) {
    return broadcastOffset(call.operand(0).shape(), index);
  });
}

static LogicalResult evaluateReshape(OpCall &call) {
  int64_t position = 0;
  return gatherElements(call, [&](ArrayRef<int64_t>) { return position++; });
}

static LogicalResult evaluateTranspose(OpCall &call) {
  ArrayRef<int64_t> permutation = call.as<TransposeOp>().getPermutation();
  return gatherElements(call, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index.size());
    for (size_t axis = 0; axis < index.size(); ++axis)
      source[permutation[axis]] = index[axis];
    return flatten(call.operand(0).shape(), source);
  });
}

static LogicalResult evaluateSlice(OpCall &call) {
  auto op = call.as<SliceOp>();
  return gatherElements(call, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index.size());
    for (size_t axis = 0; axis < index.size(); ++axis)
      source[axis] =
          op.getOffsets()[axis] + index[axis] * op.getStrides()[axis];
    return flatten(call.operand(0).shape(), source);
  });
}

static LogicalResult evaluatePad(OpCall &call) {
  auto op = call.as<PadOp>();
  int64_t position = 0;
  forEachIndex(call.operand(0).shape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> target(index.size());
    for (size_t axis = 0; axis < index.size(); ++axis)
      target[axis] =
          op.getLow()[axis] + index[axis] * (op.getInterior()[axis] + 1);
    copyElement(call.operand(0), position++, call.result(),
                flatten(call.result().shape(), target));
  });
  return success();
}

static LogicalResult evaluateConcat(OpCall &call) {
  int64_t dim = static_cast<int64_t>(call.as<ConcatOp>().getDim());
  if (dim < 0)
    dim += call.result().rank();
  int64_t begin = 0;
  for (const Tensor *operand : call.operands) {
    int64_t position = 0;
    forEachIndex(operand->shape(), [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> target(index);
      target[dim] += begin;
      copyElement(*operand, position++, call.result(),
                  flatten(call.result().shape(), target));
    });
    begin += operand->dim(dim);
  }
  return success();
}

static LogicalResult evaluateIota(OpCall &call) {
  ArrayRef<int64_t> dims = call.as<IotaOp>().getDims();
  int64_t position = 0;
  forEachIndex(call.result().shape(), [&](ArrayRef<int64_t> index) {
    int64_t number = 0;
    for (int64_t dim : dims)
      number = number * call.result().dim(dim) + index[dim];
    call.result().intAt(position++) = number;
  });
  return success();
}

void weft::addShapeOps(MLIRContext *context) {
  interpretAs<IotaOp>(context, evaluateIota);
  interpretAs<ReduceOp>(context, evaluateReduce);
  interpretAs<BroadcastOp>(context, evaluateBroadcast);
  interpretAs<ReshapeOp>(context, evaluateReshape);
  interpretAs<TransposeOp>(context, evaluateTranspose);
  interpretAs<SliceOp>(context, evaluateSlice);
  interpretAs<PadOp>(context, evaluatePad);
  interpretAs<ConcatOp>(context, evaluateConcat);
}
