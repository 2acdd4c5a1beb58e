//===- Parsing.h - Custom directives shared by op families ------*- C++ -*-===//

#ifndef WEFT_LIB_WEFT_PARSING_H
#define WEFT_LIB_WEFT_PARSING_H

#include "weft/Weft/Weft.h"

namespace weft {

/// One printed type that stands for two equal ones.
mlir::ParseResult parseSameType(mlir::OpAsmParser &parser, mlir::Type &first,
                                mlir::Type &second);
void printSameType(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::Type first, mlir::Type second);

/// Types of query, key and lse; grad and out are like query, value like key.
mlir::ParseResult parseAttentionGradTypes(mlir::OpAsmParser &parser,
                                          mlir::Type &grad, mlir::Type &query,
                                          mlir::Type &key, mlir::Type &value,
                                          mlir::Type &out, mlir::Type &lse);
void printAttentionGradTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                             mlir::Type grad, mlir::Type query, mlir::Type key,
                             mlir::Type value, mlir::Type out, mlir::Type lse);

/// Whether the unit attribute is set. While an op is parsed, attributes of its
/// attr-dict are not yet in its properties: both places count.
inline bool hasUnit(bool property, mlir::DictionaryAttr attributes,
                    llvm::StringRef name) {
  return property || (attributes && attributes.contains(name));
}

/// Fails with an error on `op` unless every dimension of the type is static.
llvm::LogicalResult verifyStatic(mlir::Operation *op, mlir::Type type);

} // namespace weft

#endif // WEFT_LIB_WEFT_PARSING_H
