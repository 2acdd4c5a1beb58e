//===- VerifyExecutable.h - Contract of plan and runtime --------*- C++ -*-===//

#ifndef WEFT_VERIFY_VERIFYEXECUTABLE_H
#define WEFT_VERIFY_VERIFYEXECUTABLE_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft {

/// Rows of a micro-step: `weft.batch` of the frontend, else the first size of
/// micro's first input of data.
int64_t getBatchRows(mlir::ModuleOp module);

/// There are the programs of a training, each with the inputs that a run
/// writes, the outputs that it reads, and no others.
llvm::LogicalResult verifyPorts(mlir::ModuleOp module);

/// The alignment that the code of a target relies on.
struct RequiredAlignment {
  int64_t bytes;
  std::string target; // for the error: "cpu:x86-64-v3"
};

/// Attributes of the module and kinds of states agree with the plan, as far as
/// the plan can tell, and offsets have the alignment.
llvm::LogicalResult verifyFacts(mlir::ModuleOp module,
                                const RequiredAlignment &alignment);

} // namespace weft

#endif // WEFT_VERIFY_VERIFYEXECUTABLE_H
