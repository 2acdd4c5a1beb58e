//===- KernelFacts.h - What a kernel says of itself -------------*- C++ -*-===//
//
// The attributes of `weft.kernel`, and the same on its form of another dialect:
// what is wrong with them, and how they are spelled.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_WEFT_KERNELFACTS_H
#define WEFT_WEFT_KERNELFACTS_H

#include "weft/Interfaces/InPlace.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// What is wrong with `inplace` of a kernel with arguments and results of these
/// types, as "expects RULE, but got VALUE"; empty if nothing is.
std::string findWrongInPlace(mlir::TypeRange inputs, mlir::TypeRange results,
                             mlir::ArrayAttr inPlace);

/// What is wrong with `pitches` of a kernel with ports of these types,
/// arguments before results; empty if nothing is.
std::string findWrongPitch(mlir::TypeRange ports,
                           llvm::ArrayRef<int64_t> pitches);

/// That an argument in the list of a result is read too late for it.
std::string describeReadAfterWrite(unsigned result, int64_t input);

/// A list of numbers: "[8, 64]".
std::string spellList(llvm::ArrayRef<int64_t> list);

} // namespace weft

#endif // WEFT_WEFT_KERNELFACTS_H
