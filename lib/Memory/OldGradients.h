//===- OldGradients.h - What the step before left behind --------*- C++ -*-===//

#ifndef WEFT_LIB_MEMORY_OLDGRADIENTS_H
#define WEFT_LIB_MEMORY_OLDGRADIENTS_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {

/// Follows what the gradients held before a step through the commands of one
/// program. The first micro-step adds to nothing: the input `accumulate` is 0,
/// and a command that it is given may leave old gradients unread.
class OldGradients {
public:
  /// `symbols` is the table of the module.
  OldGradients(plan::ProgramOp program, mlir::SymbolTable &symbols);

  using Predicate = llvm::function_ref<bool(mlir::Value)>;

  /// Notes what a command writes. `unwritten` says of a buffer whether it is a
  /// gradient that no command has written. The state whose old contents would
  /// reach a state, or "".
  llvm::StringRef add(plan::CommandOpInterface command, Predicate unwritten);
  /// The state whose old contents a buffer may hold, or "".
  llvm::StringRef lookup(mlir::Value buffer) const {
    return old.lookup(plan::getRoot(buffer));
  }

private:
  bool isFlag(mlir::Value buffer) const {
    return buffer && flags.contains(plan::getRoot(buffer));
  }
  bool leavesUnread(plan::CommandOpInterface command, unsigned index,
                    llvm::ArrayRef<unsigned> sources) const;
  llvm::StringRef findKept(plan::CommandOpInterface command,
                           llvm::ArrayRef<unsigned> sources,
                           Predicate unwritten) const;

  mlir::SymbolTable &symbols;
  /// Roots that tell the first micro-step from the others.
  llvm::DenseSet<mlir::Value> flags;
  /// Roots that depend on old contents, and of which state.
  llvm::DenseMap<mlir::Value, llvm::StringRef> old;
};

} // namespace weft

#endif // WEFT_LIB_MEMORY_OLDGRADIENTS_H
