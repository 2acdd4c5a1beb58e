//===- Segments.cpp - Parameters inside a flat state ----------------------===//

#include "weft/Base/CountText.h"
#include "weft/Interfaces/Interfaces.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// One segment
//===----------------------------------------------------------------------===//

static ParseResult parseRange(AsmParser &parser, Segment &segment) {
  if (parser.parseKeyword("at") || parser.parseInteger(segment.begin) ||
      parser.parseKeyword("to") || parser.parseInteger(segment.end))
    return failure();
  if (failed(parser.parseOptionalKeyword("source")))
    return success();
  return parser.parseAttribute(segment.source);
}

FailureOr<Segment> weft::parseSegment(AsmParser &parser) {
  Segment segment;
  StringAttr name;
  auto parseSize = [&] {
    return parser.parseInteger(segment.shape.emplace_back());
  };
  if (parser.parseLess() || parser.parseSymbolName(name) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize) ||
      parseRange(parser, segment) || parser.parseGreater())
    return failure();
  segment.param = FlatSymbolRefAttr::get(name);
  return segment;
}

void weft::printSegment(AsmPrinter &printer, const Segment &segment) {
  printer << "<" << segment.param << " [";
  llvm::interleaveComma(segment.shape, printer);
  printer << "] at " << segment.begin << " to " << segment.end;
  if (segment.source)
    printer << " source " << segment.source;
  printer << ">";
}

LogicalResult weft::verifySegment(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, int64_t begin,
                                  int64_t end) {
  constexpr int64_t most = int64_t(1) << 44;
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 1)
      return emitError() << "expects sizes of at least 1 in a segment, but got "
                         << size;
    if (llvm::MulOverflow(elements, size, elements) || elements > most)
      return emitError() << "expects a segment of at most 2^44 elements, but "
                            "got sizes ["
                         << shape << "]";
  }
  if (begin < 0)
    return emitError() << "expects a segment that begins at element 0 or "
                          "later, but got "
                       << begin;
  if (end < begin || end - begin != elements)
    return emitError() << "expects " << countText(elements, "element")
                       << " for the sizes [" << shape
                       << "] of a segment, but got the range " << begin
                       << " to " << end;
  return success();
}

//===----------------------------------------------------------------------===//
// Segments of a state
//===----------------------------------------------------------------------===//

/// They stand in order, and all elements of all slices hold them.
static LogicalResult verifyRanges(Operation *op, ArrayRef<Segment> segments,
                                  int64_t elements) {
  llvm::SmallDenseSet<Attribute> seen;
  int64_t before = 0;
  for (const Segment &segment : segments) {
    if (!seen.insert(segment.param).second)
      return op->emitOpError("expects one segment of each parameter, but got "
                             "two of ")
             << segment.param;
    if (segment.begin < before)
      return op->emitOpError("expects the segment of ")
             << segment.param << " to begin at element " << before
             << " or later, but got " << segment.begin;
    before = segment.end;
  }
  if (before <= elements)
    return success();
  return op->emitOpError("expects segments inside the ")
         << countText(elements, "element")
         << " of all slices, but got one that ends at " << before;
}

static LogicalResult verifyWithout(Operation *op, int64_t slices,
                                   StringAttr slot) {
  if (slices != 1)
    return op->emitOpError("expects segments in a state of ")
           << slices << " slices, but got none";
  if (slot)
    return op->emitOpError("expects segments in a state with a slot, but got "
                           "none");
  return success();
}

static LogicalResult verifyNames(SegmentedOpInterface op,
                                 ArrayRef<Segment> segments) {
  if (op.holdsParameters())
    return success();
  if (StringAttr slot = op.getSlotName(); !slot || slot.empty())
    return op->emitOpError("expects a slot, the name of the values in a state "
                           "with segments, but got none");
  for (const Segment &segment : segments)
    if (segment.source)
      return op->emitOpError("expects no source where a segment is no "
                             "parameter, but got ")
             << segment.source;
  return success();
}

LogicalResult weft::verifySegments(SegmentedOpInterface op) {
  int64_t slices = op.getSliceCount();
  if (slices < 1 || slices > kMostSlices)
    return op->emitOpError("expects 1 to ")
           << kMostSlices << " slices, but got " << slices;
  if (!op.isSegmented())
    return verifyWithout(op, slices, op.getSlotName());
  SmallVector<Segment> segments = op.getSegmentList();
  ShapedType type = op.getShapedType();
  int64_t elements = 0;
  if (segments.empty())
    return op->emitOpError("expects at least one segment, but got []");
  if (!type.hasRank() || type.getRank() != 1)
    return op->emitOpError("expects one dimension in a state with segments, "
                           "but got ")
           << type;
  if (failed(verifyNames(op, segments)))
    return failure();
  // The op's own verifier reports an invalid type.
  if (!type.hasStaticShape() ||
      llvm::MulOverflow(type.getDimSize(0), slices, elements))
    return success();
  return verifyRanges(op, segments, elements);
}

std::string weft::getTensorName(SegmentedOpInterface op,
                                const Segment &segment) {
  std::string name = segment.param.getValue().str();
  if (op.holdsParameters())
    return name;
  return name + "." + op.getSlotName().str();
}
