//===- Weft.h - The weft dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_WEFT_WEFT_H
#define WEFT_WEFT_WEFT_H

#include "weft/Interfaces/Interfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "weft/Weft/WeftDialect.h.inc"
#include "weft/Weft/WeftEnums.h.inc"

#include "weft/Weft/ScalerNumbers.h"

#define GET_ATTRDEF_CLASSES
#include "weft/Weft/WeftAttrs.h.inc"

namespace weft {
class ReturnOp;

/// Fails with an error on `op` unless its operands and results are tensors
/// that can be laid out in memory.
llvm::LogicalResult verifyStaticTensors(mlir::Operation *op);

template <typename ConcreteType>
class StaticTensors
    : public mlir::OpTrait::TraitBase<ConcreteType, StaticTensors> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyStaticTensors(op);
  }
};

/// Marks the ops that carry cast rules (CastPolicyOpInterface).
template <typename ConcreteType>
class HasCastRules
    : public mlir::OpTrait::TraitBase<ConcreteType, HasCastRules> {};
template <typename ConcreteType>
class HasElementFlops
    : public mlir::OpTrait::TraitBase<ConcreteType, HasElementFlops> {};

/// Ops whose region runs once, in place of the op; it may contain ops with this
/// trait. Their results are the operands of the terminator of the region's one
/// block.
template <typename ConcreteType>
class InlinedRegion
    : public mlir::OpTrait::TraitBase<ConcreteType, InlinedRegion> {};

/// Ops each of whose result elements is an element of the first operand, or
/// zero.
template <typename ConcreteType>
class MovesElements
    : public mlir::OpTrait::TraitBase<ConcreteType, MovesElements> {};

/// The implementation of WideGradientOpInterface for ops that round.
template <typename ConcreteType>
class RoundsGradient
    : public mlir::OpTrait::TraitBase<ConcreteType, RoundsGradient> {
public:
  mlir::Value
  buildWideGradient(mlir::OpBuilder &, mlir::OpResult result,
                    llvm::function_ref<mlir::Value(mlir::Value)> unrounded) {
    return unrounded(result);
  }
};

/// Ops whose result is the operand's elements in the same order.
template <typename ConcreteType>
class SameElements
    : public mlir::OpTrait::TraitBase<ConcreteType, SameElements> {};
} // namespace weft

#define GET_OP_CLASSES
#include "weft/Weft/WeftOps.h.inc"

namespace weft {

/// Shape of a NumPy broadcast of the two, or failure if they do not match.
llvm::FailureOr<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// Shape of a tensor.
inline llvm::ArrayRef<int64_t> getShape(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getShape();
}

/// The rule that the loop space of a kernel (`weft.kernel`) breaks, as "expects
/// RULE, but got VALUE"; "" if none.
std::string findWrongSpace(KernelKind kind, llvm::ArrayRef<int64_t> sizes,
                           llvm::ArrayRef<int64_t> over,
                           std::optional<llvm::ArrayRef<int64_t>> sums);

/// Whether the op (or null) is a view of its first operand.
bool isViewOp(mlir::Operation *op);

/// Whether the op (or null) is an alias of its operand: the same elements in
/// the same order.
bool renames(mlir::Operation *op);

/// Whether the op (or null) only moves elements of its first operand.
bool movesElements(mlir::Operation *op);

/// The value that `value` is a view of, through any number of view ops.
mlir::Value skipViews(mlir::Value value);

/// "a, b or c", for messages; `quote` stands around each.
std::string spellChoices(llvm::ArrayRef<llvm::StringRef> names,
                         llvm::StringRef quote = "");

/// Module path of the op ("h.3.attn"), or null.
mlir::StringAttr getScopeAttr(mlir::Operation *op);

/// The same as text, or "".
llvm::StringRef getScope(mlir::Operation *op);

/// Gives the op the module path that it belongs to.
void setScope(mlir::Operation *op, mlir::StringAttr scope);

/// The innermost module that contains both scopes: "h.0" for "h.0.attn" and
/// "h.0.mlp". "" if there is none.
llvm::StringRef getCommonScope(llvm::StringRef a, llvm::StringRef b);

/// Copies the scope of `from`, if it has one, to `to`.
void copyScope(mlir::Operation *from, mlir::Operation *to);

} // namespace weft

#endif // WEFT_WEFT_WEFT_H
