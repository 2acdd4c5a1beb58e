//===- TextScopes.h - Places of the ops of a text model ---------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_TEXTSCOPES_H
#define WEFT_LIB_FRONTEND_TEXTSCOPES_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Gives every parameter and op that names no scope one, so that reports can
/// say where a command comes from: that of the parameter which an op reads (its
/// name up to the last dot), else the name of its result in the text, else its
/// line. `text` is what the module was parsed from.
void nameScopes(mlir::ModuleOp module, llvm::StringRef text);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_TEXTSCOPES_H
