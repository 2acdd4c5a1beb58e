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

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// The type without its last dimension, with the element type of statistics:
/// f32 for the low-precision types, f64 for f64.
mlir::RankedTensorType rowStatistics(mlir::RankedTensorType type);
mlir::Type statisticsElement(mlir::Type element);

/// Why a tensor of that type cannot be laid out in memory: the rule it breaks,
/// as in "expects <rule>, but got <type>"; empty if it can.
llvm::StringRef findBrokenTensorRule(mlir::Type type);

/// Fails with an error on `op` if a tensor of that type cannot be laid out.
llvm::LogicalResult verifyStatic(mlir::Operation *op, mlir::Type type);

/// The same for the operands that a result type is inferred from: while an op
/// is parsed, nothing has verified them yet.
llvm::LogicalResult checkOperands(std::optional<mlir::Location> loc,
                                  mlir::ValueRange operands);

} // namespace weft

#endif // WEFT_LIB_WEFT_PARSING_H
