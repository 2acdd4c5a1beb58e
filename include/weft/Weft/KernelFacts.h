//===- KernelFacts.h - Attributes of a kernel -------------------*- C++ -*-===//
//
// The attributes of `weft.kernel`, also on its form in another dialect: their
// rules and their spelling.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_WEFT_KERNELFACTS_H
#define WEFT_WEFT_KERNELFACTS_H

#include "weft/Interfaces/InPlace.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// The rule that `inplace` breaks for a kernel with arguments and results of
/// these types, as "expects RULE, but got VALUE"; "" if none.
std::string findWrongInPlace(mlir::TypeRange inputs, mlir::TypeRange results,
                             mlir::ArrayAttr inPlace);

/// The rule that `pitches` breaks for a kernel with ports of these types,
/// arguments before results; "" if none.
std::string findWrongPitch(mlir::TypeRange ports,
                           llvm::ArrayRef<int64_t> pitches);

/// The message for an argument of `inplace` that is read after the result is
/// written.
std::string describeReadAfterWrite(unsigned result, int64_t input);

/// A list of numbers: "[8, 64]".
std::string spellList(llvm::ArrayRef<int64_t> list);

} // namespace weft

#endif // WEFT_WEFT_KERNELFACTS_H
