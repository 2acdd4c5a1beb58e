//===- NamedStates.cpp - States by the names of checkpoints ---------------===//

#include "weft/Interp/NamedStates.h"

#include "WholeStates.h"
#include "weft/Weft/Weft.h"

namespace weft {

namespace {
/// A segment and the flat state around it.
struct Place {
  SegmentedOpInterface state;
  Segment segment;

  std::string getSymbol() {
    return mlir::SymbolTable::getSymbolName(state).str();
  }
};
} // namespace

static llvm::SmallVector<SegmentedOpInterface>
flatStates(const RanksRunner &ranks) {
  llvm::SmallVector<SegmentedOpInterface> states;
  for (auto state : ranks.getModule().getOps<SegmentedOpInterface>())
    if (state.isSegmented() &&
        isJoined(ranks, mlir::SymbolTable::getSymbolName(state)))
      states.push_back(state);
  return states;
}

static std::optional<Place> findSegment(const RanksRunner &ranks,
                                        llvm::StringRef name) {
  for (SegmentedOpInterface state : flatStates(ranks))
    for (const Segment &segment : state.getSegmentList())
      if (getTensorName(state, segment) == name)
        return Place{state, segment};
  return std::nullopt;
}

static Tensor takeSegment(const Tensor &flat, const Segment &segment) {
  Tensor taken({segment.shape.begin(), segment.shape.end()}, flat.kind());
  copyElements(flat, segment.begin, taken, 0, segment.end - segment.begin);
  return taken;
}

llvm::FailureOr<TensorMap> getNamedStates(const RanksRunner &ranks) {
  TensorMap named;
  for (const auto &[symbol, value] : ranks.getRank(0).getStates()) {
    llvm::FailureOr<std::optional<Tensor>> whole = readWhole(ranks, symbol);
    if (failed(whole))
      return llvm::failure();
    named.emplace(symbol, std::move(**whole));
  }
  for (SegmentedOpInterface state : flatStates(ranks)) {
    auto found = named.find(mlir::SymbolTable::getSymbolName(state).str());
    if (found == named.end())
      continue;
    const Tensor flat = std::move(found->second);
    named.erase(found);
    for (const Segment &segment : state.getSegmentList())
      named[getTensorName(state, segment)] = takeSegment(flat, segment);
  }
  return named;
}

std::vector<std::string> getNamedParameters(const RanksRunner &ranks) {
  std::vector<std::string> names;
  for (const std::string &symbol : ranks.getRank(0).getParameters()) {
    auto state = llvm::cast<SegmentedOpInterface>(
        mlir::SymbolTable::lookupSymbolIn(ranks.getModule(), symbol));
    if (!state.isSegmented() || !isJoined(ranks, symbol))
      names.push_back(symbol);
    else
      for (const Segment &segment : state.getSegmentList())
        names.push_back(getTensorName(state, segment));
  }
  return names;
}

llvm::FailureOr<std::optional<Tensor>> findNamedState(const RanksRunner &ranks,
                                                      llvm::StringRef name) {
  std::optional<Place> place = findSegment(ranks, name);
  llvm::FailureOr<std::optional<Tensor>> found =
      readWhole(ranks, place ? place->getSymbol() : name.str());
  if (succeeded(found) && *found && place)
    *found = takeSegment(**found, place->segment);
  return found;
}

/// The value of a flat state, or zeros if it has none.
static llvm::FailureOr<Tensor> readFlat(const RanksRunner &ranks,
                                        Place &place) {
  llvm::FailureOr<std::optional<Tensor>> before =
      readFirst(ranks, place.getSymbol());
  if (failed(before))
    return llvm::failure();
  if (*before)
    return std::move(**before);
  mlir::ShapedType type = place.state.getShapedType();
  return Tensor({type.getDimSize(0) * place.state.getSliceCount()},
                *elementKindOf(type.getElementType()));
}

llvm::LogicalResult setNamedState(RanksRunner &ranks, llvm::StringRef name,
                                  Tensor value) {
  std::optional<Place> place = findSegment(ranks, name);
  if (!place) {
    for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank)
      if (failed(ranks.getRank(rank).setState(name, value)))
        return llvm::failure();
    return llvm::success();
  }
  llvm::FailureOr<Tensor> flat = readFlat(ranks, *place);
  if (failed(flat))
    return llvm::failure();
  const Segment &segment = place->segment;
  if (llvm::ArrayRef<int64_t>(value.shape()) !=
          llvm::ArrayRef<int64_t>(segment.shape) ||
      value.isFloat() != flat->isFloat())
    return place->state->emitError() << "'@" << name << "' expects the type "
                                     << takeSegment(*flat, segment).typeText()
                                     << ", but got " << value.typeText();
  copyElements(value, 0, *flat, segment.begin, value.size());
  return writeWhole(ranks, place->getSymbol(), *flat);
}

} // namespace weft
