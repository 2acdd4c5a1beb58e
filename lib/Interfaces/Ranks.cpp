//===- Ranks.cpp - Shared rules of collectives on values and buffers ------===//

#include "weft/Interfaces/Ranks.h"

#include "weft/Interfaces/Interfaces.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

LogicalResult weft::verifySlices(Operation *op, ShapedType slice,
                                 ShapedType full, int64_t ranks) {
  if (ranks < 1 || ranks > kMostRanks)
    return op->emitOpError("expects 1 to ")
           << kMostRanks << " ranks, but got " << ranks;
  for (ShapedType type : {slice, full})
    if (type.getRank() != 1 || !type.hasStaticShape())
      return op->emitOpError("expects one static dimension, but got ") << type;
  if (slice.getElementType() != full.getElementType())
    return op->emitOpError("expects one element type, but got ")
           << slice << " and " << full;
  int64_t elements = 0;
  if (!llvm::MulOverflow(slice.getNumElements(), ranks, elements) &&
      elements == full.getNumElements())
    return success();
  return op->emitOpError("expects ")
         << ranks << " slices, but got " << slice << " of " << full;
}

LogicalResult weft::verifyDivisors(Operation *op, double pre, double post,
                                   int64_t ranks) {
  if (pre >= 1 && post >= 1 && pre * post == double(ranks))
    return success();
  return op->emitOpError("expects two divisors of at least 1 whose product is "
                         "the number of ranks, ")
         << ranks << ", but got " << pre << " and " << post;
}

LogicalResult weft::verifyReductions(Operation *op, TypeRange numbers,
                                     ArrayRef<int64_t> reductions,
                                     TypeRange results) {
  if (numbers.empty() || numbers.size() != reductions.size() ||
      numbers != results)
    return op->emitOpError("expects a reduction and a result of the same type "
                           "for each of at least one number, but got ")
           << reductions.size() << " and " << results.size() << " for "
           << numbers.size();
  for (auto [type, number] : llvm::zip(numbers, reductions)) {
    auto reduction = symbolizeRankReduction(static_cast<uint32_t>(number));
    bool isFlag = getElementTypeOrSelf(type).isInteger(1);
    bool isScalar = cast<ShapedType>(type).getRank() == 0;
    if (!isScalar || !reduction || isFlag != (reduction == RankReduction::Or))
      return op->emitOpError("expects sum or max of an f64, or of an i1, but "
                             "got ")
             << (reduction ? stringifyRankReduction(*reduction) : "a number")
             << " of " << type;
  }
  return success();
}

ParseResult weft::parseReductions(OpAsmParser &parser,
                                  DenseI64ArrayAttr &reductions) {
  SmallVector<int64_t> numbers;
  auto parseOne = [&]() -> ParseResult {
    std::string word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&word))
      return failure();
    std::optional<RankReduction> known = symbolizeRankReduction(word);
    if (!known)
      return parser.emitError(loc, "expects sum, max or or, but got ") << word;
    numbers.push_back(static_cast<int64_t>(*known));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  reductions = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

void weft::printReductions(OpAsmPrinter &printer, ArrayRef<int64_t> reductions,
                           StringRef quote) {
  printer << '[';
  llvm::interleaveComma(reductions, printer, [&](int64_t number) {
    printer << quote << stringifyRankReduction(RankReduction(number)) << quote;
  });
  printer << ']';
}
