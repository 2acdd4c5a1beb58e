//===- StateTable.h - Accesses of programs to states ------------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STATETABLE_H
#define WEFT_LIB_VERIFY_STATETABLE_H

#include "weft/Layout/ElementSet.h"
#include "weft/Plan/Plan.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace weft {

/// The state that a buffer is a part of, or null.
plan::UseOp getUse(mlir::Value buffer);

/// An operand of a command, or an output, that is a part of a state.
struct StateAccess {
  mlir::Operation *op;
  /// Types of the operand and of the full state.
  mlir::MemRefType type, rootType;
  /// The number of the state.
  unsigned state;
  bool isRead, isWritten;
};

/// The written elements of each state, by its number.
using StateElements = std::vector<ElementSet>;

/// A program and its accesses in program order; outputs come last.
struct ProgramAccesses {
  explicit ProgramAccesses(plan::ProgramOp op) : op(op) {}

  /// Calls `visit` with the accesses of each command until it fails. The order
  /// is from the first command to the last, or from the last to the first.
  using Visitor =
      llvm::function_ref<llvm::LogicalResult(llvm::ArrayRef<StateAccess>)>;
  llvm::LogicalResult forEachCommand(Visitor visit) const;
  llvm::LogicalResult forEachCommandBackward(Visitor visit) const;

  plan::ProgramOp op;
  std::vector<StateAccess> accesses;
};

/// The states of a module by number, and all accesses to them.
class StateTable {
public:
  explicit StateTable(mlir::ModuleOp module);

  size_t size() const { return states.size(); }
  plan::StateOp getState(unsigned number) const { return states[number]; }
  llvm::ArrayRef<ProgramAccesses> getPrograms() const { return programs; }
  bool hasProgram(llvm::StringRef kind) const;
  /// Numbers of the working copies of each state, by its number. Empty if there
  /// are no working copies.
  std::vector<llvm::SmallVector<unsigned, 1>> findCopies() const;

private:
  void addAccesses(ProgramAccesses &program) const;
  /// The number of the parameter that a working state is a copy of, shard by
  /// shard, or -1.
  int findOriginal(plan::StateOp copy) const;

  llvm::SmallVector<plan::StateOp> states;
  llvm::DenseMap<mlir::StringAttr, unsigned> numbers;
  std::vector<ProgramAccesses> programs;
};

} // namespace weft

#endif // WEFT_LIB_VERIFY_STATETABLE_H
