//===- SegmentUses.cpp - Consistency of the segments of states ------------===//

#include "weft/Base/CountText.h"
#include "weft/Interfaces/Interfaces.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;

static InFlightDiagnostic addPlace(InFlightDiagnostic diag, Operation *other,
                                   StringRef text) {
  diag.attachNote(other->getLoc()) << text;
  return diag;
}

//===----------------------------------------------------------------------===//
// A state and the parameter that it belongs to
//===----------------------------------------------------------------------===//

/// The source is the parameter's alone.
static bool isSamePlace(const Segment &a, const Segment &b) {
  return a.param == b.param && a.shape == b.shape && a.begin == b.begin &&
         a.end == b.end;
}

static void describe(InFlightDiagnostic &diag, const Segment &segment) {
  diag << segment.param << " [" << ArrayRef(segment.shape) << "] at "
       << segment.begin << " to " << segment.end;
}

/// The same list of segments; how many slices there are is each one's own.
static LogicalResult verifySameList(SegmentedOpInterface state,
                                    SegmentedOpInterface owner) {
  SmallVector<Segment> mine = state.getSegmentList();
  SmallVector<Segment> theirs = owner.getSegmentList();
  if (mine.size() != theirs.size())
    return addPlace(state->emitOpError("expects the ")
                        << countText(theirs.size(), "segment") << " of "
                        << state.getOwner() << ", but got " << mine.size(),
                    owner, "declared here");
  for (auto [got, expected] : llvm::zip(mine, theirs)) {
    if (isSamePlace(got, expected))
      continue;
    InFlightDiagnostic diag = state->emitOpError("expects the segment ");
    describe(diag, expected);
    diag << " as in " << state.getOwner() << ", but got ";
    describe(diag, got);
    return addPlace(std::move(diag), owner, "declared here");
  }
  return success();
}

static LogicalResult verifyOwner(SegmentedOpInterface state,
                                 SymbolTableCollection &symbols) {
  FlatSymbolRefAttr name = state.getOwner();
  if (!name)
    return success();
  auto owner = dyn_cast_or_null<SegmentedOpInterface>(
      symbols.lookupNearestSymbolFrom(state, name));
  if (!owner || !owner.holdsParameters())
    return state->emitOpError("expects param to name a parameter, but got ")
           << name;
  if (owner.isSegmented() && state.isSegmented())
    return verifySameList(state, owner);
  if (owner.isSegmented())
    return addPlace(state->emitOpError("expects the segments of ")
                        << name << ", but got none",
                    owner, "declared here");
  SmallVector<Segment> segments = state.getSegmentList();
  if (segments.empty() || (segments.size() == 1 && segments[0].param == name))
    return success();
  return state->emitOpError("expects only the segment of ")
         << name << ", but got " << segments.size() << ", the first of "
         << segments[0].param;
}

//===----------------------------------------------------------------------===//
// All of a module
//===----------------------------------------------------------------------===//

namespace {
/// The named tensors of a module: the tensors of segments, and states without
/// segments.
class ModuleTensors {
public:
  explicit ModuleTensors(Block &body)
      : states(body.getOps<SegmentedOpInterface>()) {}

  /// The check is of the whole module: its first flat state does it.
  bool isFirst(SegmentedOpInterface state) {
    for (SegmentedOpInterface other : states)
      if (other.isSegmented())
        return other == state;
    return false;
  }

  LogicalResult verify() {
    for (SegmentedOpInterface state : states)
      if (failed(collect(state)))
        return failure();
    for (SegmentedOpInterface state : states)
      for (const Segment &segment : state.getSegmentList())
        if (!state.holdsParameters() && failed(verifyParam(state, segment)))
          return failure();
    return success();
  }

private:
  struct Place {
    SegmentedOpInterface state;
    SmallVector<int64_t> shape;
  };

  LogicalResult collect(SegmentedOpInterface state) {
    if (!state.isSegmented())
      return add(SymbolTable::getSymbolName(state).str(), state,
                 state.getShapedType().getShape());
    for (const Segment &segment : state.getSegmentList())
      if (failed(add(getTensorName(state, segment), state, segment.shape)))
        return failure();
    return success();
  }

  /// Checkpoints know a tensor by its name alone.
  LogicalResult add(const std::string &name, SegmentedOpInterface state,
                    ArrayRef<int64_t> shape) {
    auto [known, isNew] =
        tensors.try_emplace(name, Place{state, llvm::to_vector(shape)});
    if (isNew)
      return success();
    return addPlace(
        state->emitOpError("expects each tensor in one place, but got a "
                           "second @")
            << name,
        known->second.state, "the first is here");
  }

  LogicalResult verifyParam(SegmentedOpInterface state,
                            const Segment &segment) {
    auto param = tensors.find(segment.param.getValue());
    if (param == tensors.end() || !param->second.state.holdsParameters())
      return state->emitOpError("expects segments of parameters, but got ")
             << segment.param;
    const Place &place = param->second;
    if (place.shape == segment.shape)
      return success();
    return addPlace(state->emitOpError("expects sizes [")
                        << ArrayRef(place.shape) << "] for the segment of "
                        << segment.param << ", but got ["
                        << ArrayRef(segment.shape) << "]",
                    place.state, "declared here");
  }

  iterator_range<Block::op_iterator<SegmentedOpInterface>> states;
  llvm::StringMap<Place> tensors;
};
} // namespace

LogicalResult weft::verifySegmentUses(SegmentedOpInterface state,
                                      SymbolTableCollection &symbols) {
  if (failed(verifyOwner(state, symbols)))
    return failure();
  if (!state.isSegmented())
    return success();
  ModuleTensors tensors(*state->getBlock());
  return tensors.isFirst(state) ? tensors.verify() : success();
}
