//===- Segments.h - Parameters inside a flat state --------------*- C++ -*-===//
//
// A flat state holds several parameters, or what a step keeps of them, one
// after the other. Its segments say which and where; elements between them are
// zero and mean nothing. A state in slices is an equal part of such a list of
// elements: positions are those in the whole list, the same on every rank, and
// which slice a rank holds follows from its number when the program runs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERFACES_SEGMENTS_H
#define WEFT_INTERFACES_SEGMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include <string>

namespace mlir {
class SymbolTableCollection;
} // namespace mlir

namespace weft {

class SegmentedOpInterface;

/// Elements [begin, end) of a flat state: a parameter of that shape in
/// row-major order.
struct Segment {
  mlir::FlatSymbolRefAttr param;
  llvm::SmallVector<int64_t> shape;
  int64_t begin = 0, end = 0;
  mlir::StringAttr source; // its name in the file of initial weights, or null
};

/// Number of slices that a state may be one of.
constexpr int64_t kMostSlices = 100'000;

/// `<@fc1.weight [128, 64] at 0 to 8192>`
mlir::FailureOr<Segment> parseSegment(mlir::AsmParser &parser);
void printSegment(mlir::AsmPrinter &printer, const Segment &segment);
llvm::LogicalResult
verifySegment(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
              llvm::ArrayRef<int64_t> shape, int64_t begin, int64_t end);

template <typename SegmentAttr>
mlir::Attribute parseSegmentAttr(mlir::AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  mlir::FailureOr<Segment> segment = parseSegment(parser);
  if (failed(segment))
    return {};
  return parser.getChecked<SegmentAttr>(
      loc, parser.getContext(), segment->param,
      llvm::ArrayRef<int64_t>(segment->shape), segment->begin, segment->end,
      segment->source);
}

/// The list of an optional array of a dialect's segment attributes.
template <typename SegmentAttr>
llvm::SmallVector<Segment> toSegments(mlir::ArrayAttr list) {
  llvm::SmallVector<Segment> segments;
  if (list)
    for (auto segment : list.getAsRange<SegmentAttr>())
      segments.push_back(segment.getSegment());
  return segments;
}

/// The segments of a state lie in order inside of it.
llvm::LogicalResult verifySegments(SegmentedOpInterface op);

/// A state that belongs to a parameter has its segments; segments are those of
/// parameters of the module, with their sizes; and no two tensors have one
/// name.
llvm::LogicalResult verifySegmentUses(SegmentedOpInterface state,
                                      mlir::SymbolTableCollection &symbols);

/// What the segment is called by checkpoints and messages: its parameter, or
/// PARAMETER.SLOT in a state that holds something else of it.
std::string getTensorName(SegmentedOpInterface op, const Segment &segment);

} // namespace weft

#endif // WEFT_INTERFACES_SEGMENTS_H
