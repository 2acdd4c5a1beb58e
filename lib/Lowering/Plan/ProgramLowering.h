//===- ProgramLowering.h - One program over values to a plan ----*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_PLAN_PROGRAMLOWERING_H
#define WEFT_LIB_LOWERING_PLAN_PROGRAMLOWERING_H

#include "PrepareProgram.h"

#include "weft/Plan/Plan.h"

#include "mlir/IR/Builders.h"

namespace weft {

/// Statistics of the pass.
struct LoweringCounts {
  int64_t copies = 0, inPlace = 0, folded = 0;
};

/// Where a value lives: a root buffer and the layout of the value in it.
struct ValueBuffer {
  mlir::Value root;
  plan::Layout layout;
};

/// How a product may change what its destination holds.
struct Accumulation {
  bool adds = false; // always
  mlir::Value flag;  // unless this scalar is 0
};

/// Operands and epilogue of a product's command, besides its factors.
struct ProductExtras {
  Epilogue epilogue = Epilogue::None;
  mlir::Value aux, columnSum, lhsSum, rhsSum;
};

/// Lowers one `weft.program`. Every value gets a root and a layout; views share
/// the root of their operand. Commands are appended in program order, after the
/// declarations: states, inputs, then the buffers of the commands.
class ProgramLowering {
public:
  ProgramLowering(ProgramOp source, const mlir::SymbolTable &symbols,
                  mlir::OpBuilder &builder)
      : source(source), symbols(symbols), builder(builder) {}

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
  ValueBuffer getBuffer(const BufferPlace &place);
  /// The value in a dense buffer; copies it if it lies with other strides.
  mlir::Value getDense(mlir::Value value);
  /// Buffer for a result, which all its bytes are written to: dense, or as its
  /// op says that it can write.
  mlir::Value getDestination(mlir::OpResult result);
  mlir::Value allocate(mlir::Type tensorType);
  mlir::Value getView(mlir::Value root, const plan::Layout &layout);
  mlir::Value getView(const ValueBuffer &buffer) {
    return getView(buffer.root, buffer.layout);
  }
  mlir::Value getState(mlir::StringAttr name);
  std::optional<ValueBuffer> findReusable(mlir::OpResult result);
  ValueBuffer materialize(mlir::Value value, ValueBuffer buffer);
  ValueBuffer lowerConstant(ConstantOp op);
  /// Constants are written again at their next use, so that none is kept from
  /// the forward part for the backward part.
  void forgetConstants();
  void writeConstant(ConstantOp op, mlir::Value target);

  // LowerShapes.cpp: views, and shape ops that write.
  ValueBuffer lowerView(ViewOpInterface op);
  void lowerConcat(ConcatOp op);
  void lowerPad(PadOp op);
  void copyTo(mlir::Value from, mlir::Value to);
  void reportCopy(llvm::StringRef why);

  // LowerMatrixCommands.cpp: products and attention.
  mlir::Value getFactor(mlir::Value value);
  template <typename OpT>
  void emitProduct(OpT op, ValueBuffer target, Accumulation accumulation,
                   const ProductExtras &extras);
  /// A matmul or a gemm.
  void lowerProduct(mlir::Operation *op, ValueBuffer target,
                    Accumulation accumulation);
  void lowerAttention(AttentionOp op);
  void lowerAttentionGrad(AttentionGradOp op);
  ValueBuffer getAttentionOperand(mlir::Value value);

  // LowerCommands.cpp: everything else that is a command.
  llvm::LogicalResult lowerCommand(mlir::Operation *op);
  llvm::LogicalResult lowerKernelCall(CallOp op);
  /// One that the op before it performs.
  void lowerAccumulate(AccumulateOp op);
  ValueBuffer getFoldedDestination(AccumulateOp op, bool reads);
  void lowerEmbedding(EmbeddingOp op);
  void lowerEmbeddingGrad(EmbeddingGradOp op, mlir::Value target,
                          Accumulation accumulation);
  /// The command that an op of another dialect makes of itself.
  llvm::LogicalResult lowerSource(CommandSourceOpInterface op);

  /// Creates a declaration below the others, above the commands.
  template <typename OpT, typename... Args>
  OpT declare(mlir::Location location, Args &&...args) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    setInsertionPointBehind(lastDeclaration);
    auto op = OpT::create(builder, location, std::forward<Args>(args)...);
    lastDeclaration = op;
    return op;
  }
  /// Behind `op`; null: at the start of the program.
  void setInsertionPointBehind(mlir::Operation *op);
  /// Appends a command for the current op, with its scope and arithmetic.
  template <typename OpT, typename... Args> OpT emit(Args &&...args) {
    return OpT::create(builder, current->getLoc(), std::forward<Args>(args)...,
                       getScopeAttr(), getFlopsAttr(), mlir::FloatAttr(),
                       mlir::IntegerAttr());
  }
  mlir::IntegerAttr getFlopsAttr();
  mlir::StringAttr getScopeAttr();

  ProgramOp source;
  const mlir::SymbolTable &symbols;
  mlir::OpBuilder &builder;
  LoweringCounts *counts = nullptr;
  LoweringFacts facts;
  mlir::Block *body = nullptr;
  /// The op being lowered: its location, scope and position.
  mlir::Operation *current = nullptr;
  llvm::DenseMap<mlir::Value, ValueBuffer> buffers;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> states;
  mlir::Operation *lastStateUse = nullptr, *lastDeclaration = nullptr;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> views;
  /// Roots that pieces of a concatenation share: never taken over.
  llvm::DenseSet<mlir::Value> pinned;
  /// First command of the backward part.
  mlir::Operation *backwardStart = nullptr;
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_PLAN_PROGRAMLOWERING_H
