//===- ProgramLowering.h - One program over values to a plan ----*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_PLAN_PROGRAMLOWERING_H
#define WEFT_LIB_LOWERING_PLAN_PROGRAMLOWERING_H

#include "PrepareProgram.h"

#include "weft/Plan/Plan.h"

#include "mlir/IR/Builders.h"

namespace weft {

/// What the pass counts.
struct LoweringCounts {
  int64_t copies = 0, inPlace = 0, folded = 0;
};

/// Where a value lives: a root buffer and the layout of the value in it.
struct ValueBuffer {
  mlir::Value root;
  plan::Layout layout;
};

/// The ABI's number of the value's element type.
inline int64_t getDType(mlir::Value value) {
  return plan::getDType(mlir::getElementTypeOrSelf(value));
}

/// Whether the matrix routine can write the product with these strides.
bool canWriteProduct(MatmulOp op, const plan::Layout &layout);

/// Lowers one `weft.program`. Every value gets a root and a layout; views share
/// the root of what they view; commands are appended in program order.
class ProgramLowering {
public:
  ProgramLowering(ProgramOp source, const mlir::SymbolTable &symbols,
                  mlir::OpBuilder &builder, bool explain)
      : source(source), symbols(symbols), builder(builder), explain(explain) {}

  /// Builds the plan program at the builder's insertion point.
  llvm::LogicalResult run(LoweringCounts &counts);

private:
  // ProgramLowering.cpp: the frame of a program.
  void declareInputs();
  llvm::LogicalResult lowerOp(mlir::Operation *op);
  llvm::LogicalResult lowerReturn(ReturnOp op);
  void writeStates(ReturnOp op);
  void assignRoles(plan::ProgramOp program);

  // ValueBuffers.cpp: where values live.
  ValueBuffer getBuffer(mlir::Value value);
  /// The value in a dense buffer; copies it if it lies with other strides.
  mlir::Value getDense(mlir::Value value);
  /// Dense buffer for a result, which all its bytes are written to.
  mlir::Value getDestination(mlir::OpResult result);
  /// As getDestination, for a routine that takes strides.
  ValueBuffer getStridedDestination(mlir::OpResult result);
  mlir::Value allocate(mlir::Type tensorType);
  mlir::Value getView(mlir::Value root, const plan::Layout &layout);
  mlir::Value getView(const ValueBuffer &buffer) {
    return getView(buffer.root, buffer.layout);
  }
  mlir::Value getState(mlir::StringAttr name);
  std::optional<ValueBuffer> findReusable(mlir::OpResult result);
  std::optional<ValueBuffer> getPiece(mlir::OpResult result);
  ValueBuffer materialize(mlir::Value value, ValueBuffer buffer);
  ValueBuffer lowerConstant(ConstantOp op);
  void writeConstant(ConstantOp op, mlir::Value target);

  // ShapeOps.cpp: views, and shape ops that write.
  ValueBuffer lowerView(mlir::Operation *op);
  void lowerConcat(ConcatOp op);
  void lowerPad(PadOp op);
  void copyTo(mlir::Value from, mlir::Value to);
  void reportCopy(llvm::StringRef why);

  // MatrixCalls.cpp: products and attention.
  void lowerMatmul(MatmulOp op, ValueBuffer target, mlir::Value flag,
                   int64_t accumulate);
  void lowerAttention(AttentionOp op);
  void lowerAttentionGrad(AttentionGradOp op);
  ValueBuffer getAttentionOperand(mlir::Value value);

  // LibraryCalls.cpp: everything else that is a routine.
  llvm::LogicalResult lowerLibraryOp(mlir::Operation *op);
  void lowerKernelCall(CallOp op);
  void lowerAccumulate(AccumulateOp op);
  void lowerFolded(AccumulateOp op);
  ValueBuffer getFoldedDestination(AccumulateOp op);
  void lowerEmbedding(EmbeddingOp op);
  void lowerEmbeddingGrad(EmbeddingGradOp op, mlir::Value target,
                          mlir::Value flag, int64_t accumulate);
  void lowerCrossEntropy(CrossEntropyOp op);
  void lowerCrossEntropyGrad(CrossEntropyGradOp op);
  llvm::LogicalResult lowerDropout(DropoutOp op);
  void lowerRandom(mlir::Operation *op, llvm::StringRef key, double first,
                   double second);

  // TrainingCalls.cpp: the end of a step.
  void lowerNormAndCheck(NormAndCheckOp op);
  void lowerTotalNorm(TotalNormOp op);
  void lowerClipCoefficient(ClipCoefficientOp op);
  void lowerStepIncrement(StepIncrementOp op);
  void lowerScalerUpdate(ScalerUpdateOp op);
  void lowerOptimizer(mlir::Operation *op, unsigned numStates,
                      llvm::ArrayRef<int64_t> flags, double lrScale,
                      double decayScale);

  /// One library call in the making.
  struct Call {
    llvm::SmallVector<mlir::Value> buffers;
    llvm::SmallVector<int32_t> accesses;
    llvm::SmallVector<int64_t> ints;
    llvm::SmallVector<double> floats;
    void read(mlir::Value buffer) { add(buffer, plan::Access::Read); }
    void write(mlir::Value buffer) { add(buffer, plan::Access::Write); }
    void update(mlir::Value buffer) { add(buffer, plan::Access::Update); }
    void add(mlir::Value buffer, plan::Access access) {
      buffers.push_back(buffer);
      accesses.push_back(static_cast<int32_t>(access));
    }
  };
  /// Calls the routine that the current op names as its `weft.impl`.
  void emitCall(const Call &call);
  mlir::StringAttr getScopeAttr();

  ProgramOp source;
  const mlir::SymbolTable &symbols;
  mlir::OpBuilder &builder;
  bool explain;
  LoweringCounts *counts = nullptr;
  ProgramFacts facts;
  mlir::Block *body = nullptr;
  /// The op being lowered: its location, scope and position.
  mlir::Operation *current = nullptr;
  llvm::DenseMap<mlir::Value, ValueBuffer> buffers;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> states;
  mlir::Operation *lastStateUse = nullptr;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> views;
  /// Roots that pieces of a concatenation share: never taken over.
  llvm::DenseSet<mlir::Value> pinned;
  /// First command of the backward part.
  mlir::Operation *backwardStart = nullptr;
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_PLAN_PROGRAMLOWERING_H
