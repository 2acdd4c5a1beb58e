//===- KernelEmitter.h - Loops and vectors of one kernel --------*- C++ -*-===//
//
// Writes the linalg form of a kernel as an `llvm.func` over arith, math, scf
// and vector ops. The nests of a kernel share one loop over its range, so that
// intermediate values stay in registers or in cache. All vectors have kLanes
// lanes. The remainder of a dimension runs the same code under a mask, so that
// the bits of an element depend on the shape of the kernel alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_LOWERING_CPU_KERNELEMITTER_H
#define WEFT_LIB_LOWERING_CPU_KERNELEMITTER_H

#include "KernelRange.h"
#include "weft/Lowering/Linalg/LinalgKernel.h"
#include "weft/Weft/KernelOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft {

class KernelEmitter {
public:
  KernelEmitter(mlir::func::FuncOp source, const LinalgKernel &kernel);

  /// Builds the function in front of the linalg form.
  mlir::LLVM::LLVMFuncOp emit();

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // Schedules (KernelSchedules.cpp).
  void emitFlat();
  void emitOuterNest(const KernelNest &nest);
  /// `unroll`: how often LLVM unrolls the loop.
  void emitFor(mlir::Value from, mlir::Value to, int64_t step,
               llvm::function_ref<void(mlir::Value)> body, int32_t unroll = 1);
  Values emitLoop(mlir::Value from, mlir::Value to, int64_t step,
                  const Values &args,
                  llvm::function_ref<Values(mlir::Value, Values)> body,
                  int32_t unroll = 1);
  void emitLanes(const KernelNest &nest, mlir::Value from, mlir::Value to,
                 bool aligned, llvm::function_ref<void(mlir::Value)> body,
                 int32_t unroll = 1);
  void emitValues(const KernelNest &nest, ValueDepth depth);
  void emitStores(const KernelNest &nest);
  void decode(mlir::Value linear, DimRole role);

  // Rows (KernelRows.cpp).
  void emitRows();
  void emitRow(mlir::Value row);
  void emitRowPass(const KernelNest &nest);
  Values emitInner(const KernelNest &nest, mlir::Value from, mlir::Value to,
                   const Values &args, llvm::function_ref<Values(Values)> body);
  Values emitInnerBlocks(const KernelNest &nest, int64_t steps);
  Values emitLaneBlocks(const KernelNest &nest, int64_t chunks, Values wide);
  Values emitRowBlock(const KernelNest &nest, mlir::Value from, mlir::Value to,
                      const Values &sums);
  Values emitRowLanes(const KernelNest &nest, mlir::Value from, mlir::Value to,
                      const Values &sums);
  Values emitRowTail(const KernelNest &nest, Values sums);
  Values emitRowChunk(const KernelNest &nest, mlir::Value index, Values sums);
  mlir::Value blockEnd(mlir::Value start, int64_t step, int64_t limit);

  // Columns (KernelColumns.cpp).
  void emitColumns();
  void emitColumnTile(const KernelNest &nest, mlir::Value first,
                      mlir::Value last);
  void emitColumnRow(const KernelNest &nest, mlir::Value row, mlir::Value first,
                     mlir::Value last, llvm::ArrayRef<mlir::Value> sums);
  void emitColumnEnd(const KernelNest &nest, mlir::Value first,
                     mlir::Value last);
  void forEachTileChunk(
      const KernelNest &nest,
      llvm::function_ref<void(unsigned, const NestTotal &, mlir::Value)> body);
  void addTile(const KernelNest &nest, llvm::ArrayRef<mlir::Value> blocks,
               llvm::ArrayRef<mlir::Value> sums);

  // Reductions (Reductions.cpp).
  llvm::SmallVector<NestTotal> totalsOf(const KernelNest &nest);
  mlir::Value identity(const NestTotal &total, mlir::Type element);
  Values identities(llvm::ArrayRef<NestTotal> totals, int64_t partials);
  Values wideIdentities(llvm::ArrayRef<NestTotal> totals);
  mlir::Value widen(const NestTotal &total, mlir::Value lanes);
  Values addBlock(const KernelNest &nest, Values wide,
                  llvm::ArrayRef<mlir::Value> sums);
  mlir::Value getSummand(const KernelNest &nest, const NestTotal &total);
  mlir::Value reduceLanes(const NestTotal &total,
                          llvm::ArrayRef<mlir::Value> partials);

  // Random numbers (KernelDraws.cpp).
  bool countsLanes(const KernelNest &nest, mlir::Value value);
  bool drawsBlocks(const KernelNest &nest, DrawOp draw);
  void findDraws(const KernelNest &nest);
  bool hasDraws(const KernelNest &nest) const;
  mlir::LLVM::LLVMFuncOp getDrawFunction(PhiloxKind kind, bool group);
  mlir::Value firstOf(const KernelNest &nest, mlir::Value number);
  void startDraws(const KernelNest &nest, mlir::Value index);
  mlir::Value drawNumbers(const KernelNest &nest, DrawOp draw);
  Values emitChunks(const KernelNest &nest, mlir::Value from, mlir::Value to,
                    const Values &args,
                    llvm::function_ref<Values(mlir::Value, Values)> body,
                    int32_t unroll);

  // Elements of rows (KernelPicks.cpp).
  void findPicks(const KernelNest &nest);
  mlir::Value getElement(const KernelNest &nest, mlir::Value value);
  mlir::Value emitPick(const KernelNest &nest, const NestTotal &total);

  // Elements (KernelElements.cpp).
  mlir::Value constant(int64_t value);
  mlir::Value splat(mlir::Type type, double value);
  mlir::Value getScalar(const KernelNest &nest, mlir::Value value, bool lanes);
  mlir::Value getConstant(mlir::Operation *op, bool lanes);
  mlir::Value toLanes(mlir::Value value);
  mlir::Value numberOf(unsigned dim, mlir::Type element);
  mlir::Value laneNumbers(mlir::Type element);
  void evaluate(const KernelNest &nest, mlir::Operation *op);
  mlir::Value load(const NestOperand &operand);
  mlir::Value loadElement(const NestOperand &operand);
  void store(const NestOperand &operand, mlir::Value value);
  mlir::Value address(mlir::Value buffer, mlir::Type memory,
                      const SpaceAccess &access, bool lanes);
  mlir::Value loadLanes(mlir::Value pointer, mlir::Type element);
  void storeLanes(mlir::Value value, mlir::Value pointer);
  mlir::Value gather(mlir::Value pointer, mlir::Type element, int64_t stride);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type element);
  void storeScalar(mlir::Value value, mlir::Value pointer);
  mlir::Value offset(mlir::Value pointer, mlir::Type memory, mlir::Value index);
  mlir::Value scratch(mlir::Type element, int64_t count);
  mlir::Type lanesOf(mlir::Type element);
  mlir::Value tailMask(mlir::Value left);

  mlir::Value buffer(mlir::Value base);

  mlir::func::FuncOp source;
  const LinalgKernel &kernel;
  const KernelShape &shape;
  KernelRange range;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp function;
  Values buffers; // inputs, then outputs
  mlir::Value begin, end;

  /// Where the loops are: the index of each dimension, null before its loop.
  llvm::SmallVector<mlir::Value> indices;
  mlir::Value mask;      // lanes that exist, null for all
  mlir::Value tileIndex; // the column, counted from the start of its tile
  /// Values of bodies known at each depth.
  llvm::DenseMap<mlir::Value, mlir::Value> known[3];
  /// Combiners whose total is one element of a row (KernelPicks.cpp).
  llvm::DenseSet<mlir::Operation *> picks;
  /// Draws of whole blocks, with the numbers of a group of chunks on the stack;
  /// where the group begins.
  llvm::DenseMap<DrawOp, mlir::Value> drawn;
  mlir::Value drawStart;
  /// Temporaries: one number, or a buffer on the stack.
  llvm::DenseMap<mlir::Value, mlir::Value> numbers, stack;
  void enter(ValueDepth depth);
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_CPU_KERNELEMITTER_H
