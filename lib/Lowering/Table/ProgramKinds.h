//===- ProgramKinds.h - Programs that a run asks for ------------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_TABLE_PROGRAMKINDS_H
#define WEFT_LIB_LOWERING_TABLE_PROGRAMKINDS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// The run time asks for the program of a kind by the kind's name: it is the
/// one of that symbol, or the only one of its kind (weft::findProgram). Fails
/// with an error on a program that would be taken for another, or where there
/// are several of a kind to choose from.
llvm::LogicalResult verifyProgramKinds(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_LOWERING_TABLE_PROGRAMKINDS_H
