//===- PlanQueries.h - Programs and facts of a plan -------------*- C++ -*-===//

#ifndef WEFT_ANALYSIS_PLANQUERIES_H
#define WEFT_ANALYSIS_PLANQUERIES_H

#include "weft/Plan/Plan.h"

namespace weft {

struct OptimizerInfo;

/// The alignment of every root buffer in the arena (`plan.alignment`), in
/// bytes: a power of two.
mlir::FailureOr<int64_t> getBufferAlignment(mlir::ModuleOp module);

/// The program that a run takes for the one of that kind; null if there is
/// none, or several that could be meant, which the target refuses.
plan::ProgramOp findProgram(mlir::ModuleOp module, ProgramKind kind);

/// Optimizers of the update (#weft.training), in the order of getOptimizers.
/// Empty for a module without an update.
llvm::SmallVector<const OptimizerInfo *> findOptimizers(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_ANALYSIS_PLANQUERIES_H
