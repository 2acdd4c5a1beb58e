//===- Parsing.h - Directives and checks shared by op families --*- C++ -*-===//

#ifndef WEFT_LIB_WEFT_PARSING_H
#define WEFT_LIB_WEFT_PARSING_H

#include "weft/Weft/Precision.h"

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

/// The inputs that each result may overwrite: [[0], []].
mlir::ParseResult parseInPlaceLists(mlir::OpAsmParser &parser,
                                    mlir::ArrayAttr &lists);
void printInPlaceLists(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       mlir::ArrayAttr lists);

/// Whether the unit attribute is set. While an op is parsed, attributes of its
/// attr-dict are not yet in its properties: both places count.
inline bool hasUnit(bool property, mlir::DictionaryAttr attributes,
                    llvm::StringRef name) {
  return property || (attributes && attributes.contains(name));
}

/// The element type that an optional attribute asks for, or `otherwise`. Both
/// places, for the same reason.
inline mlir::Type typeOr(mlir::TypeAttr property,
                         mlir::DictionaryAttr attributes, llvm::StringRef name,
                         mlir::Type otherwise) {
  if (!property && attributes)
    property = attributes.getAs<mlir::TypeAttr>(name);
  return property ? property.getValue() : otherwise;
}

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Whether a factor may be combined with an operand of that element type: it
/// has the same, or f32 beside a low-precision one.
inline bool isFactorOf(mlir::Value factor, mlir::Type element) {
  mlir::Type own = tensorType(factor).getElementType();
  return own == element || (own.isF32() && isLowPrecision(element));
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

/// Checks the numbers of an op that drops elements.
llvm::LogicalResult verifyRandom(mlir::Operation *op, mlir::Value rng,
                                 double p);

inline constexpr llvm::StringLiteral kVocabAttr = "weft.vocab";
inline constexpr llvm::StringLiteral kSeqAttr = "weft.seq";

/// Verifies the programs of a module that has one of the two attributes.
llvm::LogicalResult verifyLanguageModel(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_WEFT_PARSING_H
