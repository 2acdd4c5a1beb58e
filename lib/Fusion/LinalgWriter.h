//===- LinalgWriter.h - One kernel as linalg ops ----------------*- C++ -*-===//
//
// Writes a `weft.kernel` as a function on memrefs: one `linalg.generic` per
// phase over the whole iteration space, and small generics over the outer
// dimensions between them. Temporaries hold values that a later generic reads.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_LINALGWRITER_H
#define WEFT_LIB_FUSION_LINALGWRITER_H

#include "weft/Analysis/KernelLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

class LinalgWriter {
public:
  /// `fast`: f16 and bf16 are rounded only where the kernel writes them.
  LinalgWriter(KernelOp kernel, const KernelLayout &layout, bool fast);

  /// Builds the function in front of the kernel.
  mlir::func::FuncOp write();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Dims = llvm::SmallVector<unsigned>;

  /// A memref and the dimensions of the space that each of its own follows.
  struct View {
    mlir::Value memref;
    Dims dims;
  };
  /// An output of a generic: a value, or the running total of a reduction.
  struct Target {
    View view;
    mlir::Value value;
    ReduceOp reduce;
  };
  /// One generic: its dimensions, the ops of its body, and its outputs.
  struct Nest {
    Dims dims;
    llvm::SmallVector<mlir::Operation *> ops;
    llvm::SmallVector<Target> targets;
    // Found while it is built.
    llvm::SmallVector<View> inputs;
    llvm::SmallVector<std::pair<ExternalUse, mlir::Value>> numbers;
    llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  };

  // The nests of a kernel (ConvertKernelsToLinalg.cpp).
  void writeRows();
  void writeColumns();
  void writeOuter(llvm::ArrayRef<mlir::Operation *> ops, bool last);
  void writeFull(const KernelPhase &phase);
  void writeSums();
  void addTotals(llvm::ArrayRef<ReduceOp> reduces, Nest &nest);
  void addStores(const KernelPhase &phase, Nest &nest);
  Dims dimsOf(llvm::ArrayRef<DimRole> roles) const;
  void findSupports();

  // One nest (LinalgWriter.cpp).
  void build(Nest nest);
  void findInputs(Nest &nest);
  void addInput(Nest &nest, View view);
  void addMissingDims(Nest &nest);
  View viewOf(mlir::Value base, const SpaceAccess &access);
  mlir::Value reinterpret(mlir::Value base, int64_t offset,
                          llvm::ArrayRef<int64_t> sizes,
                          llvm::ArrayRef<int64_t> strides, bool plain);
  mlir::Value bufferOf(mlir::Value argument) {
    return function.getArgument(
        mlir::cast<mlir::BlockArgument>(argument).getArgNumber());
  }
  View temporary(mlir::Type element, Dims dims);
  void buildBody(Nest &nest, mlir::ValueRange arguments);
  mlir::Value scalarOf(mlir::OpOperand &operand, Nest &nest,
                       mlir::ValueRange arguments);
  mlir::Value scalarOf(mlir::Value member, Nest &nest,
                       mlir::ValueRange arguments);
  mlir::Value numberOf(const ExternalUse &use, Nest &nest);
  mlir::Value argumentOf(const View &view, const Nest &nest,
                         mlir::ValueRange arguments);
  mlir::Value evaluate(mlir::Operation *op, Nest &nest,
                       mlir::ValueRange arguments);
  mlir::Value finish(ReduceOp op, mlir::Value sum);
  mlir::Value identity(ReduceOp op);
  mlir::Value combine(ReduceOp op, mlir::Value sum, mlir::Value element);
  mlir::Value castFloat(mlir::Value value, mlir::Type element);
  mlir::Type getValueType(mlir::Value value);
  mlir::Type getSumType(ReduceOp op);
  bool needsFinish(ReduceOp op);

  KernelOp kernel;
  const KernelLayout &layout;
  const KernelSpace &space;
  bool fast;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::func::FuncOp function;
  llvm::SmallVector<std::pair<ExternalUse, View>> views; // made so far
  /// Dimensions that the element of a member really depends on.
  llvm::DenseMap<mlir::Value, Dims> supports;
  /// Temporaries that hold members, and the running totals of reductions.
  llvm::DenseMap<mlir::Value, View> kept;
  llvm::DenseMap<mlir::Value, View> totals;
};

/// Whether the op is another name of its operand's elements.
bool isRenamingOp(mlir::Operation *op);

} // namespace weft

#endif // WEFT_LIB_FUSION_LINALGWRITER_H
