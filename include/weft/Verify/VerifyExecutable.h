//===- VerifyExecutable.h - Contract of plan and runtime --------*- C++ -*-===//

#ifndef WEFT_VERIFY_VERIFYEXECUTABLE_H
#define WEFT_VERIFY_VERIFYEXECUTABLE_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft {

/// Rows of a micro-step: `weft.batch` of the frontend, else the first dimension
/// of the first data input of `micro`.
int64_t getBatchRows(mlir::ModuleOp module);

/// Checks that the programs for training exist, and that each has exactly the
/// inputs that a run writes and the outputs that it reads.
llvm::LogicalResult verifyPorts(mlir::ModuleOp module);

/// The alignment that the generated code of a target requires.
struct RequiredAlignment {
  int64_t bytes;
  std::string target; // for the error: "cpu:x86-64-v3"
};

/// Checks that attributes of the module and kinds of states match the plan, as
/// far as the plan determines them. Offsets must have the alignment.
llvm::LogicalResult verifyFacts(mlir::ModuleOp module,
                                const RequiredAlignment &alignment);

} // namespace weft

#endif // WEFT_VERIFY_VERIFYEXECUTABLE_H
