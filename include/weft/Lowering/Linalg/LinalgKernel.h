//===- LinalgKernel.h - The loop nests of a kernel --------------*- C++ -*-===//
//
// A target-independent view of the output of `weft-convert-kernels-to-linalg`.
// It gives for each `linalg.generic` its loops, the layout of its operands, how
// often each value of its body changes, and which results are running totals.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_LINALG_LINALGKERNEL_H
#define WEFT_LOWERING_LINALG_LINALGKERNEL_H

#include "weft/Analysis/KernelShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace weft {

/// Where a nest runs.
enum class NestLevel {
  Outer, // once per element of the range: statistics of a row
  Full,  // over the whole space
  End    // over columns, or sums over rows, after the loops over their rows
};

/// An operand of a nest: an argument of the function or a temporary.
struct NestOperand {
  mlir::Value base;
  SpaceAccess access;
};

/// A result that is the running total of its old value and an element.
struct NestTotal {
  mlir::Operation *combiner = nullptr; // null: the result is just written
  mlir::TypedAttr start;
  bool isOverRows = false; // a sum over rows in a kernel of rows

  mlir::Type getSumType() const { return start.getType(); }
  /// The element that the combiner adds to the total.
  mlir::Value getElement() const { return combiner->getOperand(1); }
  /// The type in which blocks are added up: f64 for sums. Extrema are exact.
  mlir::Type getWideType() const;
  /// The body's own addition (or extremum) of two scalars or vectors.
  mlir::Value combine(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) const;
  /// The same of several ones, which are halved.
  mlir::Value combineAll(mlir::OpBuilder &b,
                         llvm::SmallVector<mlir::Value> values) const;
};

struct KernelNest {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<unsigned> dims; // of the space, for each loop
  NestLevel level = NestLevel::Full;
  llvm::SmallVector<NestOperand> inputs, outputs;
  llvm::SmallVector<NestTotal> totals; // one per output
  llvm::DenseMap<mlir::Value, ValueDepth> depths;

  mlir::Block &getBody() const { return op->getRegion(0).front(); }
  mlir::Value getResult(unsigned output) const {
    return getBody().getTerminator()->getOperand(output);
  }
  /// Whether the body reads an input; others tell the sizes of loops.
  bool reads(unsigned input) const {
    return !getBody().getArgument(input).use_empty();
  }
  /// The dimension whose index the op converts; std::nullopt for any other op.
  std::optional<unsigned> getIndexDim(mlir::Operation *inner) const;
  bool isCombiner(mlir::Operation *inner) const {
    return llvm::any_of(totals, [&](const NestTotal &total) {
      return total.combiner == inner;
    });
  }
};

class LinalgKernel {
public:
  /// Fails with an error on a function that does not have the form above.
  static llvm::FailureOr<LinalgKernel> get(mlir::func::FuncOp function);

  const KernelShape &getShape() const { return shape; }
  llvm::ArrayRef<KernelNest> getNests() const { return nests; }
  /// The arguments whose buffer an argument that is written may take.
  llvm::ArrayRef<int64_t> getInPlaceInputs(mlir::Value output) const;

private:
  mlir::LogicalResult readNest(mlir::linalg::GenericOp op);
  mlir::LogicalResult findLevel(KernelNest &nest) const;
  bool readsSums(mlir::linalg::GenericOp op) const;
  bool isOverRows(const SpaceAccess &access) const;
  mlir::LogicalResult readOperand(mlir::linalg::GenericOp op,
                                  mlir::OpOperand &operand,
                                  llvm::ArrayRef<unsigned> dims,
                                  NestOperand &result) const;
  mlir::LogicalResult readTotal(KernelNest &nest, unsigned output) const;
  mlir::LogicalResult readFill(mlir::linalg::FillOp fill);
  mlir::LogicalResult readOp(mlir::Operation &op);
  void contractTemporaries();
  void contract(SpaceAccess &access) const;
  void findDepths(KernelNest &nest) const;

  // Checks of the form (LinalgForm.cpp).
  static mlir::LogicalResult checkFunction(mlir::func::FuncOp function);
  static mlir::LogicalResult checkTemporary(mlir::memref::AllocaOp op);
  static mlir::LogicalResult checkBody(mlir::Block &body);

  // Facts of the function against its body (LinalgFacts.cpp).
  mlir::LogicalResult readInPlace(mlir::func::FuncOp function);
  mlir::LogicalResult checkFacts(const KernelNest &nest) const;
  mlir::LogicalResult checkLoops(const KernelNest &nest) const;
  mlir::LogicalResult checkTotal(const KernelNest &nest, unsigned output) const;
  mlir::LogicalResult checkSum(const KernelNest &nest, unsigned output,
                               llvm::ArrayRef<int64_t> over) const;
  mlir::LogicalResult checkResult(const KernelNest &nest,
                                  unsigned output) const;
  mlir::LogicalResult checkKept(const KernelNest &nest, unsigned output) const;
  mlir::LogicalResult checkSumResults() const;
  mlir::LogicalResult checkWrites(mlir::func::FuncOp function) const;
  mlir::LogicalResult checkReads(mlir::func::FuncOp function, unsigned result,
                                 int64_t input) const;

  // Checks of buffer contents and the order of accesses (LinalgBuffers.cpp).
  struct Write {
    const KernelNest *nest;
    unsigned output;
  };
  using Writes = llvm::DenseMap<mlir::Value, Write>;
  mlir::LogicalResult checkBounds(mlir::linalg::GenericOp op,
                                  mlir::OpOperand &operand,
                                  const NestOperand &read) const;
  mlir::LogicalResult checkBuffers(mlir::func::FuncOp function) const;
  mlir::LogicalResult checkRead(const KernelNest &nest, unsigned input,
                                const Writes &writes) const;
  mlir::LogicalResult checkTaken(const KernelNest &nest, unsigned input,
                                 const Write &write) const;
  mlir::LogicalResult checkWrite(const KernelNest &nest, unsigned output,
                                 Writes &writes) const;
  mlir::LogicalResult checkElements(const KernelNest &nest,
                                    unsigned output) const;
  mlir::LogicalResult checkValue(const KernelNest &nest, unsigned output) const;
  mlir::LogicalResult checkSaved(const KernelNest &nest, unsigned output,
                                 int64_t &bytes) const;
  mlir::LogicalResult checkMeetings(mlir::func::FuncOp function) const;

  KernelShape shape;
  std::vector<KernelNest> nests;
  mlir::ArrayAttr inPlace; // a list of arguments for each of the last ones
  unsigned firstOutput = 0;
  llvm::DenseMap<mlir::Value, mlir::TypedAttr> starts; // linalg.fill
};

} // namespace weft

#endif // WEFT_LOWERING_LINALG_LINALGKERNEL_H
