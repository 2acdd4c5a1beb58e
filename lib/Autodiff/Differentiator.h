//===- Differentiator.h - Reverse mode over one program ---------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_DIFFERENTIATOR_H
#define WEFT_LIB_AUTODIFF_DIFFERENTIATOR_H

#include "Branches.h"
#include "GradientSums.h"

#include "weft/Weft/Weft.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// Options of the pass.
struct DifferentiatorSettings {
  /// Each gradient of a low-precision copy is converted to f32 by itself.
  bool isWide;
  /// Gradients are added to the old value of the state.
  bool accumulates;
};

/// Differentiates one program.
class Differentiator {
public:
  Differentiator(mlir::ModuleOp module, ProgramOp program,
                 DifferentiatorSettings settings)
      : module(module), program(program), settings(settings), symbols(module),
        builder(program.getTerminator(), &backward), widener(builder, backward),
        branches(program, builder, backward) {
    for (mlir::Operation &op : *module.getBody())
      if (llvm::isa<ParamOp, StateOp>(op))
        lastDeclaration = &op;
  }

  llvm::LogicalResult run();
  size_t numBackwardOps() const { return backward.size(); }
  bool isBackward(mlir::Operation *op) const { return backward.contains(op); }

private:
  llvm::LogicalResult collectParameters();
  mlir::Type gradientElement(ParamOp param);
  llvm::LogicalResult seed();
  llvm::LogicalResult differentiate(mlir::Operation *op);
  llvm::LogicalResult differentiateCopy(mlir::Operation *op);
  llvm::LogicalResult propagate(mlir::Operation *op,
                                llvm::ArrayRef<mlir::Value> resultGrads);
  void send(mlir::OpOperand &use, mlir::Value grad);
  void setInsertionPointAfter(llvm::ArrayRef<mlir::Value> values);
  llvm::LogicalResult writeGradients();
  llvm::FailureOr<llvm::SmallVector<mlir::Value, 2>>
  collectTerms(ParamOp param, mlir::Value read, mlir::Type element);
  llvm::FailureOr<StateOp> declareState(ParamOp param, const llvm::Twine &name,
                                        mlir::Type type, StateKind kind);
  llvm::FailureOr<StateOp> declareGradient(ParamOp param, mlir::Value read,
                                           mlir::Type element);
  void writeGradient(ParamOp param, StateOp state,
                     llvm::ArrayRef<mlir::Value> terms);
  /// The first op after the forward part.
  mlir::Operation *firstBackward();

  mlir::ModuleOp module;
  ProgramOp program;
  DifferentiatorSettings settings;
  /// Symbols of the module before gradients are declared.
  mlir::SymbolTable symbols;
  mlir::Operation *lastDeclaration = nullptr;
  BackwardOps backward;
  mlir::OpBuilder builder;
  GradientWidener widener;
  Branches branches;
  PresenceCounts presence;
  /// A trainable parameter with the first value read from it and the element
  /// type of its gradient.
  struct Entry {
    ParamOp param;
    mlir::Value read;
    mlir::Type element;
  };
  llvm::MapVector<mlir::StringAttr, Entry> params;
  /// Values that hold a trainable parameter in f16 or bf16.
  llvm::DenseSet<mlir::Value> lowCopies;
  /// Values with a gradient: they depend on a trainable parameter.
  llvm::DenseSet<mlir::Value> active;
  GradientSums sums;
  /// For the value read from a parameter: the deciding branches of each of its
  /// gradients.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Deciding, 2>> uses;
  /// The gradient states and their new values.
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::Value>> writes;
  llvm::SmallVector<mlir::Operation *> forward;
};

/// The values of `program` that may have a gradient: floating-point values that
/// depend on a parameter for which `isTrained` is true.
llvm::DenseSet<mlir::Value>
findActive(ProgramOp program,
           llvm::function_ref<bool(mlir::StringAttr)> isTrained);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_DIFFERENTIATOR_H
