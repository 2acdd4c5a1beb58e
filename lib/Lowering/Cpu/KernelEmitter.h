//===- KernelEmitter.h - Loops and vectors of one kernel --------*- C++ -*-===//
//
// Writes a `weft.kernel` as an `llvm.func` over arith, math, scf and vector
// ops. All vectors have kLanes lanes; what is left over at the end of a
// dimension runs the same code under a mask, so that an element's bits depend
// on the kernel's shape alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_CPU_KERNELEMITTER_H
#define WEFT_LOWERING_CPU_KERNELEMITTER_H

#include "weft/Analysis/KernelLayout.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft {

class KernelEmitter {
public:
  KernelEmitter(KernelOp kernel, const KernelLayout &layout);

  /// Builds the function in front of the kernel.
  mlir::LLVM::LLVMFuncOp emit();

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // Schedules (KernelSchedules.cpp).
  void emitFlat();
  void emitRows();
  void emitRow(mlir::Value row);
  void emitRowPass(const KernelPhase &phase);
  Values emitRowLanes(const KernelPhase &phase, mlir::Value inner, Values args);
  void emitColumns();
  void emitColumnTile(mlir::Value first, mlir::Value last);
  void emitColumnRow(mlir::Value row, mlir::Value first, mlir::Value last,
                     llvm::ArrayRef<mlir::Value> sums);
  void emitColumnEnd(mlir::Value first, mlir::Value last,
                     llvm::ArrayRef<mlir::Value> sums);
  void emitFor(mlir::Value from, mlir::Value to, int64_t step,
               llvm::function_ref<void(mlir::Value)> body);
  void emitLanes(mlir::Value from, mlir::Value to, bool aligned,
                 llvm::function_ref<void(mlir::Value)> body);
  void loadOuterUses();
  void emitOuterValues(const KernelPhase &phase);
  void emitInnerValues(const KernelPhase &phase);
  void emitLaneValues(const KernelPhase &phase);
  void emitStores(const KernelPhase &phase);
  void emitSaves(const KernelPhase &phase);
  void decode(mlir::Value linear, DimRole role);

  // Reductions (Reductions.cpp).
  mlir::Value identity(ReduceOp op, mlir::Type type);
  mlir::Value combine(ReduceOp op, mlir::Value x, mlir::Value y);
  mlir::Value finish(ReduceOp op, mlir::Value sum);
  mlir::Value reduceLanes(ReduceOp op, llvm::ArrayRef<mlir::Value> partials);
  mlir::Type getSumType(ReduceOp op);
  mlir::Value getSummand(ReduceOp op);

  // Elements (KernelElements.cpp).
  mlir::Value constant(int64_t value);
  mlir::Value splat(mlir::Type type, double value);
  mlir::Value getOperand(mlir::OpOperand &operand, bool lanes);
  mlir::Value getMember(mlir::Value value, bool lanes);
  mlir::Value getConstant(mlir::Value value, bool lanes);
  mlir::Value toLanes(mlir::Value value);
  void evaluate(mlir::Operation *op);
  mlir::Value load(const ExternalUse &use);
  mlir::Value address(mlir::Value buffer, mlir::Type memory,
                      const SpaceAccess &access, bool lanes);
  mlir::Value loadLanes(mlir::Value pointer, mlir::Type element);
  void storeLanes(mlir::Value value, mlir::Value pointer);
  mlir::Value gather(mlir::Value pointer, mlir::Type element, int64_t stride);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type element);
  void storeScalar(mlir::Value value, mlir::Value pointer);
  mlir::Value offset(mlir::Value pointer, mlir::Type memory, mlir::Value index);
  mlir::Value scratch(mlir::Type element, int64_t count);
  mlir::Type lanesOf(mlir::Type element);
  mlir::Value tailMask(mlir::Value left);

  mlir::Value buffer(mlir::Value argument);
  mlir::Value outputBuffer(unsigned index);

  KernelOp kernel;
  const KernelLayout &layout;
  const KernelSpace &space;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp function;
  Values buffers; // inputs, then outputs
  mlir::Value begin, end;

  /// Where the loops are: the index of each dimension, null before its loop.
  llvm::SmallVector<mlir::Value> indices;
  mlir::Value innerIndex; // all inner dimensions as one number
  mlir::Value mask;       // lanes that exist, null for all
  /// Values known at each depth.
  llvm::DenseMap<mlir::Value, mlir::Value> known[3];
  llvm::SmallVector<std::pair<const ExternalUse *, mlir::Value>> loaded[3];
  llvm::DenseMap<mlir::Value, mlir::Value> saved; // value -> stack buffer
  void enter(ValueDepth depth);
};

} // namespace weft

#endif // WEFT_LOWERING_CPU_KERNELEMITTER_H
