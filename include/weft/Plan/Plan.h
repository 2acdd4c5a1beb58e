//===- Plan.h - The plan dialect --------------------------------*- C++ -*-===//
//
// Programs over buffers. The executor runs them in the form of tables. A root
// buffer has an offset in the arena, a view has a layout relative to its root.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PLAN_PLAN_H
#define WEFT_PLAN_PLAN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "weft/Interfaces/Interfaces.h"

namespace weft::plan {
using weft::Layout;
using weft::StoredMatrix;
} // namespace weft::plan

#include "weft/Plan/PlanDialect.h.inc"
#include "weft/Plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "weft/Plan/PlanAttrs.h.inc"

namespace weft::plan {

class CommandOpInterface;
class WorkspaceOpInterface;

/// How a command uses one of its operands.
struct Access {
  mlir::Value buffer;
  bool isRead = false, isWritten = false;
};

/// The host, other ranks and other streams.
struct Outside : mlir::SideEffects::Resource::Base<Outside> {
  llvm::StringRef getName() final { return "outside"; }
};

/// Verifies that each written buffer has distinct elements and shares none with
/// the command's other operands, except a buffer that it may overwrite as a
/// whole.
llvm::LogicalResult verifyCommand(CommandOpInterface command);

/// A workspace is the last operand of its command, of i8, and written.
llvm::LogicalResult verifyWorkspace(WorkspaceOpInterface op);

/// Element type of the buffer with the most elements of all that the command
/// reads, the first of equals. If it reads none, of all that it writes.
mlir::Type getLargestElementType(CommandOpInterface command);

llvm::LogicalResult verifyDenseOperands(mlir::Operation *op);

/// Each of those operand groups has one operand.
llvm::LogicalResult verifySingleOperands(mlir::Operation *op,
                                         llvm::ArrayRef<unsigned> groups);

template <unsigned... groups> struct SingleOperands {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType, Impl> {
  public:
    static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
      return verifySingleOperands(op, {groups...});
    }
  };
};

/// All operands lie densely in row-major order.
template <typename ConcreteType>
class DenseOperands
    : public mlir::OpTrait::TraitBase<ConcreteType, DenseOperands> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyDenseOperands(op);
  }
};

} // namespace weft::plan

#include "weft/Plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "weft/Plan/PlanOps.h.inc"

namespace weft::plan {

/// Bytes of one element; `i1` takes a byte.
int64_t getElementBytes(mlir::MemRefType type);

/// Bytes of a dense buffer of that shape.
int64_t getBufferBytes(mlir::MemRefType type);

/// Whether a buffer is a workspace: scratch of one command, without meaning
/// before and after.
bool isWorkspace(mlir::Value buffer);

/// The root of a buffer: itself unless it is a view.
mlir::Value getRoot(mlir::Value buffer);

/// Offset of a root in the arena, or nothing before memory planning.
std::optional<int64_t> getRootOffset(mlir::Value root);

/// Arena offset of the first element of any buffer.
std::optional<int64_t> getByteOffset(mlir::Value buffer);

void setRootOffset(mlir::Value root, int64_t offset);

/// The ops that use a root or a view of it, without the views. An op is listed
/// once for each use.
llvm::SmallVector<mlir::Operation *> getUsers(mlir::Value root);

} // namespace weft::plan

#endif // WEFT_PLAN_PLAN_H
