//===- Segments.h - Parameters inside a flat state --------------*- C++ -*-===//
//
// A flat state holds several parameters, or their gradients or optimizer
// states, one after the other. Its segments give their names and positions;
// elements between segments are zero and unused. A sharded state is one of
// several equal shards of such a list of elements. Positions count elements of
// the whole list and are the same on every rank. A rank's number at run time
// determines its shard.
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

/// Largest number of shards of a state.
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

/// Verifies that the segments of a state are in order and inside of it.
llvm::LogicalResult verifySegments(SegmentedOpInterface op);

/// Verifies that a state that belongs to a parameter has its segments, that
/// segments name parameters of the module and have their sizes, and that no two
/// tensors have one name.
llvm::LogicalResult verifySegmentUses(SegmentedOpInterface state,
                                      mlir::SymbolTableCollection &symbols);

/// The segment's name in checkpoints and messages: its parameter, or
/// PARAMETER.SLOT in a state with another value of the parameter.
std::string getTensorName(SegmentedOpInterface op, const Segment &segment);

} // namespace weft

#endif // WEFT_INTERFACES_SEGMENTS_H
