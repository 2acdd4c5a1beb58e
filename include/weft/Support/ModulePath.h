//===- ModulePath.h - Paths of modules in a model ---------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_MODULEPATH_H
#define WEFT_SUPPORT_MODULEPATH_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// The path to the first number, "h.0" of "h.0.attn", or "" where there is
/// none.
llvm::StringRef getBlock(llvm::StringRef path);

/// The block of a path, else the path: the unit of gathers and reductions.
llvm::StringRef getUnit(llvm::StringRef path);

} // namespace weft

#endif // WEFT_SUPPORT_MODULEPATH_H
