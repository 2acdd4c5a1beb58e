//===- IndexInputs.h - Inputs whose values are indices ----------*- C++ -*-===//

#ifndef WEFT_WEFT_INDEXINPUTS_H
#define WEFT_WEFT_INDEXINPUTS_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// Attribute of a module: inputs that formulas read as classes, which no
/// command tells any more. An array of dictionaries with `name`, `limit` (i64,
/// the number of classes) and `ignore` (i64, one more value that may be).
inline constexpr llvm::StringLiteral kIndexInputsAttr = "weft.index_inputs";

} // namespace weft

#endif // WEFT_WEFT_INDEXINPUTS_H
