//===- LanguageModel.h - Sizes of a language model --------------*- C++ -*-===//
//
// Private to lib/Weft.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_WEFT_LANGUAGEMODEL_H
#define WEFT_LIB_WEFT_LANGUAGEMODEL_H

#include "weft/Weft/Weft.h"

namespace weft {

inline constexpr llvm::StringLiteral kVocabAttr = "weft.vocab";
inline constexpr llvm::StringLiteral kSeqAttr = "weft.seq";

/// Verifies the programs of a module that has one of the two attributes.
llvm::LogicalResult verifyLanguageModel(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_WEFT_LANGUAGEMODEL_H
