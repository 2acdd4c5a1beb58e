//===- CpuCommands.h - How the CPU runs a command ---------------*- C++ -*-===//

#ifndef WEFT_LOWERING_CPU_CPUCOMMANDS_H
#define WEFT_LOWERING_CPU_CPUCOMMANDS_H

#include "weft/Plan/Plan.h"
#include "weft/Runtime/Execute/Abi.h"
#include "weft/Runtime/Execute/Workspaces.h"

namespace weft {

/// A record and, behind it, its list.
using RecordWords = llvm::SmallVector<int64_t, 32>;

} // namespace weft

#include "weft/Lowering/Cpu/CpuCommands.h.inc"

namespace weft {

/// What the tables say of a command that is no kernel.
struct CpuCommand {
  CpuCommandOpInterface model;
  WeftCommandKind kind;
  std::string routine;
  RecordWords record;

  llvm::StringRef getBytes() const {
    return {reinterpret_cast<const char *>(record.data()),
            record.size() * sizeof(int64_t)};
  }
  template <typename Record> const Record *as() const {
    return reinterpret_cast<const Record *>(record.data());
  }

  /// What its routine works in, in a program for at most `threads` threads; 0:
  /// nothing. Fails with an error on the command if its model says less.
  llvm::FailureOr<int64_t> getWorkspaceBytes(int64_t threads);

  /// Fails with an error on the command if the CPU has nothing that runs it.
  static llvm::FailureOr<CpuCommand> get(plan::CommandOpInterface command);
};

/// The number of an element type in the tables (WeftDType).
int32_t getDType(mlir::Type element);

/// Attaches the models of the commands.
void registerCpuCommandModels(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_LOWERING_CPU_CPUCOMMANDS_H
