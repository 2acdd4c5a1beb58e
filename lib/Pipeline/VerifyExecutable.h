//===- VerifyExecutable.h - What the runtime takes for granted --*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_VERIFYEXECUTABLE_H
#define WEFT_LIB_PIPELINE_VERIFYEXECUTABLE_H

#include "weft/Plan/Plan.h"

namespace weft {

struct OptimizerInfo;

/// The program that a run takes for the one of that kind; null if there is
/// none, or several that could be meant, which the target refuses.
plan::ProgramOp findProgram(mlir::ModuleOp module, llvm::StringRef kind);

/// Rows of a micro-step: what the frontend noted, else the first size of
/// micro's first input of data.
int64_t getBatchRows(mlir::ModuleOp module);

/// Optimizers of the apply program, in the order of getOptimizers: those of
/// commands and those that are kernels.
llvm::SmallVector<const OptimizerInfo *> findOptimizers(mlir::ModuleOp module);

/// There are the programs of a training, each with the inputs that a run
/// writes, the outputs that it reads, and no others.
llvm::LogicalResult verifyPorts(mlir::ModuleOp module);

/// What the attributes of the module and the kinds of states say of the plan is
/// true, as far as the plan can tell.
llvm::LogicalResult verifyFacts(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_VERIFYEXECUTABLE_H
