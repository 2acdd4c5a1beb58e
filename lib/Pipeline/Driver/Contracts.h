//===- Contracts.h - Properties that hold after a phase ---------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_DRIVER_CONTRACTS_H
#define WEFT_LIB_PIPELINE_DRIVER_CONTRACTS_H

#include "weft/Pipeline/Targets/Target.h"

namespace weft {

llvm::LogicalResult checkImport(mlir::ModuleOp module);
llvm::LogicalResult checkModel(mlir::ModuleOp module);
llvm::LogicalResult checkNoTies(mlir::ModuleOp module);
llvm::LogicalResult checkGroups(mlir::ModuleOp module, const FlagValues &flags);
llvm::LogicalResult checkCasts(mlir::ModuleOp module);
llvm::LogicalResult checkPrograms(mlir::ModuleOp module);
llvm::LogicalResult checkRecomputeMarks(mlir::ModuleOp module);
llvm::LogicalResult checkGradients(mlir::ModuleOp module);
llvm::LogicalResult checkLossScale(mlir::ModuleOp module);
llvm::LogicalResult checkApply(mlir::ModuleOp module);
llvm::LogicalResult checkWorkingCopies(mlir::ModuleOp module);
llvm::LogicalResult checkLayouts(mlir::ModuleOp module);
llvm::LogicalResult checkBuckets(mlir::ModuleOp module);
llvm::LogicalResult checkCollectives(mlir::ModuleOp module);
llvm::LogicalResult checkFormulas(mlir::ModuleOp module);
llvm::LogicalResult checkFusion(mlir::ModuleOp module);
llvm::LogicalResult checkChoices(mlir::ModuleOp module);
llvm::LogicalResult checkPlan(mlir::ModuleOp module);
llvm::LogicalResult checkEstimates(mlir::ModuleOp module);
llvm::LogicalResult checkUnplaced(mlir::ModuleOp module,
                                  const PhaseInfo &phase);
llvm::LogicalResult checkOverlap(mlir::ModuleOp module,
                                 const FlagValues &flags);
llvm::LogicalResult checkEvents(mlir::ModuleOp module);
llvm::LogicalResult checkOffsets(mlir::ModuleOp module);
llvm::LogicalResult checkExecutable(mlir::ModuleOp module, const Target &target,
                                    llvm::StringRef targetName);
llvm::LogicalResult checkKernels(mlir::ModuleOp module, const PhaseInfo &phase);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_DRIVER_CONTRACTS_H
