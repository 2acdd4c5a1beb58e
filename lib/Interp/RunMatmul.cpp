//===- RunMatmul.cpp - Matrix products and tables -------------------------===//

#include "OpFunctions.h"

#include <algorithm>
#include <cmath>

namespace weft {

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

/// A stack of row-major matrices, read as transposed or not.
struct MatrixView {
  const Tensor &tensor;
  bool transposed;

  int64_t storedRows() const { return tensor.dim(tensor.rank() - 2); }
  int64_t storedColumns() const { return tensor.dim(tensor.rank() - 1); }
  int64_t rows() const { return transposed ? storedColumns() : storedRows(); }
  int64_t columns() const {
    return transposed ? storedRows() : storedColumns();
  }
  /// Start of matrix `batch`; a tensor of rank 2 is shared by all.
  int64_t begin(int64_t batch) const {
    return tensor.rank() == 2 ? 0 : batch * storedRows() * storedColumns();
  }
  double at(int64_t batch, int64_t row, int64_t column) const {
    return tensor.at(begin(batch) + (transposed
                                         ? column * storedColumns() + row
                                         : row * storedColumns() + column));
  }
};

/// Adds `bias` to every row: to the whole sums, as an op behind the product
/// would.
static void addToRows(Tensor &tensor, const Tensor &bias) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.at(i) += bias.at(i % bias.size());
}

/// Adds op(left), a matrix, over its columns to `rowSums`, and op(right) over
/// its rows to `columnSums`, each unless it is null: over the inner dimension.
static void addFactors(MatrixView lhs, Tensor *rowSums, MatrixView rhs,
                       Tensor *columnSums) {
  for (int64_t k = 0; k < lhs.columns(); ++k) {
    for (int64_t row = 0; rowSums && row < rowSums->size(); ++row)
      rowSums->at(row) += lhs.at(0, row, k);
    for (int64_t i = 0; columnSums && i < columnSums->size(); ++i)
      columnSums->at(i) += rhs.at(0, k, i);
  }
}

/// Adds the products of matrices, transposed first or not, to `sum`.
static void addProducts(const Tensor &left, bool transposeLhs,
                        const Tensor &right, bool transposeRhs, Tensor &sum) {
  MatrixView lhs{left, transposeLhs}, rhs{right, transposeRhs};
  int64_t rows = lhs.rows(), depth = lhs.columns(), columns = rhs.columns();
  int64_t batches = sum.size() / std::max<int64_t>(rows * columns, 1);
  // Row by row, so that the inner loop runs along a row of the result.
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t row = 0; row < rows; ++row) {
      double *out = &sum.at((batch * rows + row) * columns);
      for (int64_t k = 0; k < depth; ++k) {
        double factor = lhs.at(batch, row, k);
        for (int64_t column = 0; column < columns; ++column)
          out[column] += factor * rhs.at(batch, k, column);
      }
    }
}

static llvm::LogicalResult evaluateMatmul(OpCall &call) {
  auto op = call.as<MatmulOp>();
  addProducts(call.operand(0), op.getTransposeLhs(), call.operand(1),
              op.getTransposeRhs(), call.result());
  if (op.getBias())
    addToRows(call.result(), call.operand(2));
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Matrix product with what stands around it
//===----------------------------------------------------------------------===//

static double applyEpilogue(Epilogue epilogue, double sum, double aux) {
  switch (epilogue) {
  case Epilogue::None:
    return sum;
  case Epilogue::Relu:
    return relu(sum);
  case Epilogue::ReluGrad:
    return reluGrad(sum, aux);
  case Epilogue::Gelu:
    return geluTanh(sum);
  case Epilogue::GeluGrad:
    return geluTanhGrad(sum, aux);
  }
  llvm_unreachable("an epilogue without a formula");
}

namespace {
/// The tensors of a product by name; null where it has none.
struct ProductTensors {
  const Tensor *lhs, *rhs, *old = nullptr, *bias = nullptr, *aux = nullptr,
                           *flag = nullptr;
  Tensor *target, *sum = nullptr, *columnSum = nullptr, *lhsSum = nullptr,
                  *rhsSum = nullptr;

  ProductTensors(GemmOp op, OpCall &call);
  /// Reads and writes of the command, each in command order.
  ProductTensors(plan::GemmOp op, OpCall &call);
};
} // namespace

ProductTensors::ProductTensors(GemmOp op, OpCall &call) {
  unsigned nextOperand = 0, nextResult = 0;
  auto read = [&](bool has) {
    return has ? &call.operand(nextOperand++) : nullptr;
  };
  auto write = [&](bool has) {
    return has ? &call.result(nextResult++) : nullptr;
  };
  lhs = read(true);
  rhs = read(true);
  bias = read(op.getBias() != nullptr);
  aux = read(op.getAux() != nullptr);
  target = write(true);
  sum = write(op.getSum() != nullptr);
  columnSum = write(op.getColumnSum() != nullptr);
  lhsSum = write(op.getLhsSum() != nullptr);
  rhsSum = write(op.getRhsSum() != nullptr);
}

ProductTensors::ProductTensors(plan::GemmOp op, OpCall &call) {
  auto command = call.as<plan::CommandOpInterface>();
  unsigned nextOperand = 0, nextResult = 0;
  auto read = [&](mlir::MutableOperandRange range) -> const Tensor * {
    bool has = !range.empty() && command.isRead(range[0].getOperandNumber());
    return has ? &call.operand(nextOperand++) : nullptr;
  };
  auto write = [&](mlir::MutableOperandRange range) -> Tensor * {
    bool has = !range.empty() && command.isWritten(range[0].getOperandNumber());
    return has ? &call.result(nextResult++) : nullptr;
  };
  lhs = &call.operand(nextOperand++);
  rhs = &call.operand(nextOperand++);
  if (op.accumulates())
    old = &call.operand(nextOperand++);
  bias = read(op.getBiasMutable());
  aux = read(op.getAuxMutable());
  flag = read(op.getFlagMutable());
  target = &call.result(nextResult++);
  sum = write(op.getAuxMutable());
  columnSum = write(op.getColumnSumMutable());
  lhsSum = write(op.getLhsSumMutable());
  rhsSum = write(op.getRhsSumMutable());
}

/// Adds up the rows of the target, whose elements are rounded first in f32
/// mode.
static void sumRows(OpCall &call, Tensor &target, Tensor &sums) {
  if (call.interpreter.getMode() == ComputeMode::F32)
    target.roundElements();
  for (int64_t i = 0; i < target.size(); ++i)
    sums.at(i % sums.size()) += target.at(i);
}

/// Evaluates the op or the command.
template <typename OpT> static llvm::LogicalResult evaluateGemm(OpCall &call) {
  auto op = call.as<OpT>();
  ProductTensors tensors(op, call);
  Tensor &target = *tensors.target;
  addProducts(*tensors.lhs, op.getTransposeLhs(), *tensors.rhs,
              op.getTransposeRhs(), target);
  if (tensors.bias)
    addToRows(target, *tensors.bias);
  bool adds = tensors.old && (!tensors.flag || tensors.flag->at(0) != 0);
  for (int64_t i = 0; i < target.size(); ++i) {
    double sum = target.at(i) + (adds ? tensors.old->at(i) : 0);
    if (tensors.sum)
      tensors.sum->at(i) = sum;
    target.at(i) = applyEpilogue(op.getEpilogue(), sum,
                                 tensors.aux ? tensors.aux->at(i) : 0);
  }
  if (tensors.columnSum)
    sumRows(call, target, *tensors.columnSum);
  if (tensors.lhsSum || tensors.rhsSum)
    addFactors({*tensors.lhs, op.getTransposeLhs()}, tensors.lhsSum,
               {*tensors.rhs, op.getTransposeRhs()}, tensors.rhsSum);
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

static bool hasRow(int64_t id, int64_t rows) { return id >= 0 && id < rows; }

static llvm::LogicalResult evaluateEmbedding(OpCall &call) {
  const Tensor &table = call.operand(0), &ids = call.operand(1);
  int64_t rows = table.dim(0), width = table.dim(1);
  for (int64_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; c < width; ++c)
      call.result().at(i * width + c) = hasRow(ids.intAt(i), rows)
                                            ? table.at(ids.intAt(i) * width + c)
                                            : std::nan("");
  return llvm::success();
}

static llvm::LogicalResult evaluateEmbeddingGrad(OpCall &call) {
  const Tensor &grad = call.operand(0), &ids = call.operand(1);
  int64_t rows = call.result().dim(0), width = call.result().dim(1);
  for (int64_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; hasRow(ids.intAt(i), rows) && c < width; ++c)
      call.result().at(ids.intAt(i) * width + c) += grad.at(i * width + c);
  return llvm::success();
}

/// Operands: grad, ids, the old target if the command may read it, and the
/// flag.
static llvm::LogicalResult evaluateEmbeddingGradCommand(OpCall &call) {
  auto op = call.as<plan::EmbeddingGradOp>();
  if (failed(evaluateEmbeddingGrad(call)))
    return llvm::failure();
  if (op.getAdds() || (op.getFlag() && call.operand(3).at(0) != 0))
    for (int64_t i = 0; i < call.result().size(); ++i)
      call.result().at(i) += call.operand(2).at(i);
  return llvm::success();
}

void addMatmulOps(mlir::MLIRContext *context) {
  interpretAs<MatmulOp>(context, evaluateMatmul);
  interpretAs<GemmOp>(context, evaluateGemm<GemmOp>);
  interpretAs<EmbeddingOp>(context, evaluateEmbedding);
  interpretAs<EmbeddingGradOp>(context, evaluateEmbeddingGrad);
}

void addMatmulCommands(mlir::MLIRContext *context) {
  interpretAs<plan::GemmOp>(context, evaluateGemm<plan::GemmOp>);
  interpretAs<plan::EmbeddingOp>(context, evaluateEmbedding);
  interpretAs<plan::EmbeddingGradOp>(context, evaluateEmbeddingGradCommand);
}

} // namespace weft
