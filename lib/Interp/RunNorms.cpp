//===- RunNorms.cpp - Softmax, norms, rotary embedding --------------------===//

#include "OpFunctions.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Calls visit(first, stride) for every line of elements along `axis`.
static void forEachLine(const Tensor &tensor, int64_t axis,
                        function_ref<void(int64_t, int64_t)> visit) {
  int64_t stride = stridesOf(tensor.shape())[axis], length = tensor.dim(axis);
  for (int64_t outer = 0; outer < tensor.size(); outer += length * stride)
    for (int64_t inner = 0; inner < stride; ++inner)
      visit(outer + inner, stride);
}

/// Natural logarithm of the sum of e^x along a line.
static double logSumExp(const Tensor &x, int64_t first, int64_t stride,
                        int64_t length) {
  double most = x.at(first);
  for (int64_t i = 1; i < length; ++i)
    most = std::fmax(most, x.at(first + i * stride));
  double sum = 0;
  for (int64_t i = 0; i < length; ++i)
    sum += std::exp(x.at(first + i * stride) - most);
  return most + std::log(sum);
}

template <typename OpT> static LogicalResult evaluateSoftmax(OpCall &call) {
  constexpr bool isLog = std::is_same_v<OpT, LogSoftmaxOp>;
  Tensor x = call.castOperand(call.as<OpT>().getDtype());
  int64_t axis = call.as<OpT>().getAxis(), length = x.dim(axis);
  forEachLine(x, axis, [&](int64_t first, int64_t stride) {
    double total = logSumExp(x, first, stride, length);
    for (int64_t i = first; i < first + length * stride; i += stride) {
      double logarithm = x.at(i) - total;
      call.result().at(i) = isLog ? logarithm : std::exp(logarithm);
    }
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Norms over the last dimension
//===----------------------------------------------------------------------===//

static LogicalResult evaluateLayerNorm(OpCall &call) {
  double eps = call.as<LayerNormOp>().getEps().convertToDouble();
  const Tensor &x = call.operand(0);
  const Tensor &weight = call.operand(1), &bias = call.operand(2);
  int64_t width = x.dim(x.rank() - 1);
  for (int64_t row = 0; row < x.size() / width; ++row) {
    const double *in = &x.floatValues()[row * width];
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < width; ++i)
      mean += in[i] / width;
    for (int64_t i = 0; i < width; ++i)
      variance += (in[i] - mean) * (in[i] - mean) / width;
    double rstd = 1 / std::sqrt(variance + eps);
    for (int64_t i = 0; i < width; ++i)
      call.result(0).at(row * width + i) =
          (in[i] - mean) * rstd * weight.at(i) + bias.at(i);
    call.result(1).at(row) = mean;
    call.result(2).at(row) = rstd;
  }
  return success();
}

static LogicalResult evaluateRmsNorm(OpCall &call) {
  double eps = call.as<RmsNormOp>().getEps().convertToDouble();
  const Tensor &x = call.operand(0), &weight = call.operand(1);
  int64_t width = x.dim(x.rank() - 1);
  for (int64_t row = 0; row < x.size() / width; ++row) {
    const double *in = &x.floatValues()[row * width];
    double meanSquare = 0;
    for (int64_t i = 0; i < width; ++i)
      meanSquare += in[i] * in[i] / width;
    double rstd = 1 / std::sqrt(meanSquare + eps);
    for (int64_t i = 0; i < width; ++i)
      call.result(0).at(row * width + i) = in[i] * rstd * weight.at(i);
    call.result(1).at(row) = rstd;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rotary embedding: operand [B,T,H,D], cos and sin [T, D/2]
//===----------------------------------------------------------------------===//

static LogicalResult evaluateRope(OpCall &call) {
  const Tensor &x = call.operand(0);
  const Tensor &cos = call.operand(1), &sin = call.operand(2);
  int64_t time = x.dim(1), heads = x.dim(2), width = x.dim(3), half = width / 2;
  for (int64_t row = 0; row < x.size() / width; ++row) {
    int64_t t = row / heads % time;
    for (int64_t i = 0; i < half; ++i) {
      double a = x.at(row * width + i), b = x.at(row * width + half + i);
      double c = cos.at(t * half + i), s = sin.at(t * half + i);
      call.result().at(row * width + i) = a * c - b * s;
      call.result().at(row * width + half + i) = b * c + a * s;
    }
  }
  return success();
}

void weft::addNormOps(MLIRContext *context) {
  interpretAs<SoftmaxOp>(context, evaluateSoftmax<SoftmaxOp>);
  interpretAs<LogSoftmaxOp>(context, evaluateSoftmax<LogSoftmaxOp>);
  interpretAs<LayerNormOp>(context, evaluateLayerNorm);
  interpretAs<RmsNormOp>(context, evaluateRmsNorm);
  interpretAs<RopeOp>(context, evaluateRope);
}
