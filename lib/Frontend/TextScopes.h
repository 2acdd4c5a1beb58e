//===- TextScopes.h - Scopes of the ops of a text model ---------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_TEXTSCOPES_H
#define WEFT_LIB_FRONTEND_TEXTSCOPES_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Gives a scope to every parameter and op without one, so that reports can
/// name the source of a command. The scope of a parameter is its name up to the
/// last dot. The scope of an op is the scope of a parameter that it reads, else
/// its result name in the text, else its line. `text` is the source text of the
/// module.
void nameScopes(mlir::ModuleOp module, llvm::StringRef text);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_TEXTSCOPES_H
