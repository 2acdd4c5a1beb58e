//===- InPlace.h - Results over arguments -----------------------*- C++ -*-===//

#ifndef WEFT_INTERFACES_INPLACE_H
#define WEFT_INTERFACES_INPLACE_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// `inplace` of a kernel, on its linalg form: a list for each of the arguments
/// that are results, which stand last.
inline constexpr llvm::StringLiteral kInPlaceAttr = "weft.inplace";

} // namespace weft

#endif // WEFT_INTERFACES_INPLACE_H
