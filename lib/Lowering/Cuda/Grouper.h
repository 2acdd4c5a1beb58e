//===- Grouper.h - Commands of a program as one launch ----------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CUDA_GROUPER_H
#define WEFT_LIB_LOWERING_CUDA_GROUPER_H

#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// A command that becomes part of a group: the kernel that does its work, and
/// the kernel's buffers.
struct GroupMember {
  plan::CommandOpInterface command;
  KernelOp kernel;
  mlir::ValueRange inputs, outputs;
};

/// Forms groups of commands of one program. The two passes derive from it.
class Grouper {
public:
  /// At most `mostBuffers` of a group. The pass decides what has `mostBytes`.
  Grouper(plan::ProgramOp program, mlir::SymbolTable &symbols,
          int64_t mostBytes, int64_t mostBuffers)
      : program(program), symbols(symbols), mostBytes(mostBytes),
        mostBuffers(mostBuffers) {}

  int64_t numGroups = 0, numGrouped = 0;

protected:
  /// Replaces the commands by a launch of their kernels, in the place of the
  /// last one. Its scope is the innermost module that contains all of them.
  void replace(llvm::ArrayRef<GroupMember> members, mlir::IntegerAttr flops,
               mlir::FloatAttr estUs);

  plan::ProgramOp program;
  mlir::SymbolTable &symbols;
  const int64_t mostBytes, mostBuffers;

private:
  KernelGroupOp findOrCreateGroup(llvm::ArrayRef<KernelOp> kernels,
                                  mlir::Location loc);
};

/// Fails with an error at the module unless a kernel may have `buffers` of a
/// group.
llvm::LogicalResult checkGroupBuffers(mlir::ModuleOp module, int64_t buffers);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_GROUPER_H
