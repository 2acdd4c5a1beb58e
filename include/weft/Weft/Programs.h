//===- Programs.h - Programs of a module by their kind ----------*- C++ -*-===//

#ifndef WEFT_WEFT_PROGRAMS_H
#define WEFT_WEFT_PROGRAMS_H

#include "weft/Weft/Weft.h"

namespace weft {

/// The only program of a kind, or null if there is none; several are an error.
llvm::FailureOr<ProgramOp> findOnlyProgram(mlir::ModuleOp module,
                                           ProgramKind kind);

/// Whether `weft.training` names no optimizer, as weft-drop-training leaves it.
bool isWithoutTraining(mlir::ModuleOp module);

/// Erases ops without effect whose results nothing reads.
void eraseDeadOps(ProgramOp program);

} // namespace weft

#endif // WEFT_WEFT_PROGRAMS_H
