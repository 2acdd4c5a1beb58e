//===- MatmulOps.cpp - Matrix products and tables -------------------------===//

#include "OpTable.h"

#include <algorithm>

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

void fillRows(Tensor &tensor, const Tensor &bias) {
  std::vector<double> &values = tensor.floatValues();
  for (auto row = values.begin(); row != values.end(); row += bias.size())
    llvm::copy(bias.floatValues(), row);
}

void addProducts(const Tensor &left, bool transposeLhs, const Tensor &right,
                 bool transposeRhs, Tensor &sum) {
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
  if (op.getBias())
    fillRows(call.result(), call.operand(2));
  addProducts(call.operand(0), op.getTransposeLhs(), call.operand(1),
              op.getTransposeRhs(), call.result());
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// Fails where an id is not a row of the table.
static llvm::LogicalResult checkIds(OpCall &call, const Tensor &ids,
                                    int64_t rows) {
  for (int64_t id : ids.intValues())
    if (id < 0 || id >= rows)
      return call.fail() << "expects ids in [0, " << rows << "), but got "
                         << id;
  return llvm::success();
}

static llvm::LogicalResult evaluateEmbedding(OpCall &call) {
  const Tensor &table = call.operand(0), &ids = call.operand(1);
  if (failed(checkIds(call, ids, table.dim(0))))
    return llvm::failure();
  int64_t width = table.dim(1);
  for (int64_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; c < width; ++c)
      call.result().at(i * width + c) = table.at(ids.intAt(i) * width + c);
  return llvm::success();
}

static llvm::LogicalResult evaluateEmbeddingGrad(OpCall &call) {
  const Tensor &grad = call.operand(0), &ids = call.operand(1);
  if (failed(checkIds(call, ids, call.result().dim(0))))
    return llvm::failure();
  int64_t width = call.result().dim(1);
  for (int64_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; c < width; ++c)
      call.result().at(ids.intAt(i) * width + c) += grad.at(i * width + c);
  return llvm::success();
}

/// Operands: grad, ids, what the target held if it may be read, and the flag.
static llvm::LogicalResult evaluateEmbeddingGradCommand(OpCall &call) {
  auto op = call.as<plan::EmbeddingGradOp>();
  if (failed(evaluateEmbeddingGrad(call)))
    return llvm::failure();
  if (op.getAdds() || (op.getFlag() && call.operand(3).at(0) != 0))
    for (int64_t i = 0; i < call.result().size(); ++i)
      call.result().at(i) += call.operand(2).at(i);
  return llvm::success();
}

void addMatmulOps(OpTable &table) {
  table["weft.matmul"] = evaluateMatmul;
  table["weft.embedding"] = evaluateEmbedding;
  table["weft.embedding_grad"] = evaluateEmbeddingGrad;
  table["plan.embedding"] = evaluateEmbedding;
  table["plan.embedding_grad"] = evaluateEmbeddingGradCommand;
}

} // namespace weft
