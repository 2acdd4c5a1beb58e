//===- MatrixCalls.cpp - Matrix products and attention --------------------===//

#include "ProgramLowering.h"

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A batch of stored matrices as weft_cpu_gemm sees it.
struct Matrix {
  int64_t batchStride = 0;
  int64_t rows, columns;
  int64_t leading;
  bool transposed = false;
};
} // namespace

/// Layout with the leading dimensions merged to one, if strides allow it.
static std::optional<plan::Layout> mergeLeading(const plan::Layout &layout,
                                                size_t keep) {
  size_t leading = layout.sizes.size() - keep;
  SmallVector<int64_t> sizes = {1};
  for (size_t i = 0; i != leading; ++i)
    sizes[0] *= layout.sizes[i];
  sizes.append(layout.sizes.begin() + leading, layout.sizes.end());
  return layout.reshape(sizes);
}

/// Reads a layout [batch, rows, columns] as stored rows or stored columns;
/// nothing if neither direction is dense.
static std::optional<Matrix> readMatrix(const plan::Layout &layout) {
  Matrix matrix;
  matrix.batchStride = layout.sizes[0] == 1 ? 0 : layout.strides[0];
  matrix.rows = layout.sizes[1];
  matrix.columns = layout.sizes[2];
  int64_t row = layout.strides[1], column = layout.strides[2];
  if (matrix.columns == 1 || column == 1) {
    matrix.leading = matrix.rows == 1 ? matrix.columns : row;
    if (matrix.leading >= matrix.columns)
      return matrix;
  }
  if (matrix.rows == 1 || row == 1) {
    matrix.leading = matrix.columns == 1 ? matrix.rows : column;
    matrix.transposed = true;
    if (matrix.leading >= matrix.rows)
      return matrix;
  }
  return std::nullopt;
}

/// How a product is cut: one product with all rows, or a batch.
static bool isSharedRight(MatmulOp op) {
  return getShape(op.getRhs()).size() == 2 && !op.getTransposeLhs();
}

static std::optional<Matrix> readFactor(const plan::Layout &layout,
                                        bool isFlat) {
  size_t keep = isFlat ? 1 : 2;
  std::optional<plan::Layout> merged = mergeLeading(layout, keep);
  if (!merged)
    return std::nullopt;
  if (isFlat) {
    merged->sizes.insert(merged->sizes.begin(), 1);
    merged->strides.insert(merged->strides.begin(), 0);
  }
  return readMatrix(*merged);
}

bool canWriteProduct(MatmulOp op, const plan::Layout &layout) {
  std::optional<Matrix> matrix = readFactor(layout, isSharedRight(op));
  return matrix && !matrix->transposed;
}

void ProgramLowering::lowerMatmul(MatmulOp op, ValueBuffer target, Value flag,
                                  int64_t accumulate) {
  bool isFlat = isSharedRight(op);
  // A factor whose strides do not fit is copied first.
  auto getFactor = [&](Value value, bool flat) {
    std::optional<Matrix> matrix = readFactor(getBuffer(value).layout, flat);
    if (!matrix) {
      getDense(value);
      matrix = readFactor(getBuffer(value).layout, flat);
    }
    return std::make_pair(getView(getBuffer(value)), *matrix);
  };
  auto [lhs, a] = getFactor(op.getLhs(), isFlat);
  auto [rhs, b] = getFactor(op.getRhs(), /*flat=*/false);
  Matrix c = *readFactor(target.layout, isFlat);
  ArrayRef<int64_t> shape = getShape(op.getResult());
  int64_t batch = 1;
  if (!isFlat)
    for (int64_t size : shape.drop_back(2))
      batch *= size;
  Call call;
  call.read(lhs);
  call.read(rhs);
  call.add(getView(target),
           accumulate == 0 ? plan::Access::Write : plan::Access::Update);
  if (op.getBias())
    call.read(getDense(op.getBias()));
  if (accumulate == 2)
    call.read(flag);
  bool transposeLhs = op.getTransposeLhs(), transposeRhs = op.getTransposeRhs();
  call.ints = {batch,
               c.rows,
               c.columns,
               transposeLhs ? a.rows : a.columns,
               transposeLhs != a.transposed,
               transposeRhs != b.transposed,
               a.leading,
               b.leading,
               c.leading,
               a.batchStride,
               b.batchStride,
               c.batchStride,
               accumulate,
               op.getBias() != Value(),
               getDType(op.getLhs()),
               getDType(op.getResult())};
  emitCall(call);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

ValueBuffer ProgramLowering::getAttentionOperand(Value value) {
  ValueBuffer buffer = getBuffer(value);
  if (buffer.layout.sizes.back() == 1 || buffer.layout.strides.back() == 1)
    return buffer;
  getDense(value);
  return getBuffer(value);
}

static void appendStrides(SmallVectorImpl<int64_t> &ints,
                          const ValueBuffer &buffer) {
  ArrayRef<int64_t> strides = buffer.layout.strides;
  ints.append(strides.begin(), strides.begin() + 3);
}

static SmallVector<int64_t> getAttentionSizes(Value query, Value key,
                                              bool causal, int64_t opId) {
  ArrayRef<int64_t> q = getShape(query), k = getShape(key);
  return {q[0], q[1], k[1], q[2], k[2], q[3], causal, opId};
}

void ProgramLowering::lowerAttention(AttentionOp op) {
  ValueBuffer query = getAttentionOperand(op.getQuery());
  ValueBuffer key = getAttentionOperand(op.getKey());
  ValueBuffer value = getAttentionOperand(op.getValue());
  Value lse = getDestination(cast<OpResult>(op.getLse()));
  ValueBuffer out = getStridedDestination(cast<OpResult>(op.getOut()));
  Call call;
  for (const ValueBuffer &buffer : {query, key, value})
    call.read(getView(buffer));
  call.write(getView(out));
  call.write(lse);
  call.ints = getAttentionSizes(op.getQuery(), op.getKey(), op.getCausal(),
                                op.getOpId());
  for (const ValueBuffer &buffer : {query, key, value, out})
    appendStrides(call.ints, buffer);
  call.ints.push_back(getDType(op.getQuery()));
  double dropout = op.getDropout().convertToDouble();
  if (dropout > 0)
    call.read(getDense(op.getRng()));
  call.floats = {op.getScale().convertToDouble(), dropout};
  emitCall(call);
}

void ProgramLowering::lowerAttentionGrad(AttentionGradOp op) {
  ValueBuffer query = getAttentionOperand(op.getQuery());
  ValueBuffer key = getAttentionOperand(op.getKey());
  ValueBuffer value = getAttentionOperand(op.getValue());
  ValueBuffer out = getAttentionOperand(op.getOut());
  ValueBuffer grad = getAttentionOperand(op.getGrad());
  Value lse = getDense(op.getLse());
  SmallVector<ValueBuffer> targets;
  for (OpResult result : op->getResults())
    targets.push_back(getStridedDestination(result));
  Call call;
  for (const ValueBuffer &buffer : {grad, query, key, value, out})
    call.read(getView(buffer));
  call.read(lse);
  for (const ValueBuffer &target : targets)
    call.write(getView(target));
  call.ints = getAttentionSizes(op.getQuery(), op.getKey(), op.getCausal(),
                                op.getOpId());
  for (const ValueBuffer &buffer : {query, key, value, out, grad})
    appendStrides(call.ints, buffer);
  for (const ValueBuffer &target : targets)
    appendStrides(call.ints, target);
  call.ints.push_back(getDType(op.getQuery()));
  double dropout = op.getDropout().convertToDouble();
  if (dropout > 0)
    call.read(getDense(op.getRng()));
  call.floats = {op.getScale().convertToDouble(), dropout};
  emitCall(call);
}

} // namespace weft
