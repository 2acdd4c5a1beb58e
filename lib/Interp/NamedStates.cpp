//===- NamedStates.cpp - States by the names of checkpoints ---------------===//

#include "weft/Interp/NamedStates.h"

#include "weft/Base/CountText.h"
#include "weft/Interp/RanksRunner.h"
#include "weft/Weft/Weft.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace mlir;
using namespace weft;

static Operation *findState(const RanksRunner &ranks, StringRef state) {
  return SymbolTable::lookupSymbolIn(ranks.getModule(), state);
}

/// Whether the slices of all ranks are joined: one rank has no more than its
/// own.
static bool isJoined(const RanksRunner &ranks, StringRef state) {
  return ranks.getNumRanks() > 1 || countSlices(ranks, state) == 1;
}

template <typename T>
static void copyElements(const std::vector<T> &from, int64_t begin,
                         std::vector<T> &to, int64_t at, int64_t count) {
  if (!from.empty())
    std::copy_n(from.begin() + begin, count, to.begin() + at);
}

/// `count` elements from `begin` on, to those from `at` on.
static void copyElements(const Tensor &from, int64_t begin, Tensor &to,
                         int64_t at, int64_t count) {
  copyElements(from.floatValues(), begin, to.floatValues(), at, count);
  copyElements(from.intValues(), begin, to.intValues(), at, count);
}

//===----------------------------------------------------------------------===//
// Replicas
//===----------------------------------------------------------------------===//

template <typename T>
static bool isSame(const std::vector<T> &a, const std::vector<T> &b,
                   int64_t begin, int64_t end) {
  return a.empty() || std::memcmp(a.data() + begin, b.data() + begin,
                                  (end - begin) * sizeof(T)) == 0;
}

static bool isSame(const Tensor &a, const Tensor &b, int64_t begin,
                   int64_t end) {
  return begin >= end ||
         (isSame(a.floatValues(), b.floatValues(), begin, end) &&
          isSame(a.intValues(), b.intValues(), begin, end));
}

/// The checkpoint name of the first tensor in which two values of a state
/// differ. Elements between segments are ignored. The values start at element
/// `first` of the whole state.
static std::optional<std::string>
findDifference(Operation *op, int64_t first, const Tensor &a, const Tensor &b) {
  auto state = cast<SegmentedOpInterface>(op);
  if (!state.isSegmented()) {
    if (isSame(a, b, 0, a.size()))
      return std::nullopt;
    return SymbolTable::getSymbolName(op).str();
  }
  for (const Segment &segment : state.getSegmentList()) {
    int64_t begin = std::max<int64_t>(segment.begin - first, 0);
    int64_t end = std::min(segment.end - first, a.size());
    if (!isSame(a, b, begin, end))
      return getTensorName(state, segment);
  }
  return std::nullopt;
}

/// The common value of all ranks that hold one slice. If values differ, returns
/// their mean for a gradient and fails with an error for other states. Also
/// fails if a holder has no value.
static FailureOr<Tensor> requireEqual(const RanksRunner &ranks, StringRef name,
                                      ArrayRef<int64_t> holders,
                                      bool isGradient) {
  const Tensor &first = *ranks.getRank(holders.front()).findState(name);
  Operation *state = findState(ranks, name);
  for (int64_t rank : holders.drop_front()) {
    const Tensor *other = ranks.getRank(rank).findState(name);
    std::optional<std::string> differs;
    if (other)
      differs =
          findDifference(state, holders.front() * first.size(), first, *other);
    if (other && !differs)
      continue;
    if (isGradient && other)
      return meanOverRanks(ranks, name, holders);
    return state->emitError() << "expects '@" << differs.value_or(name.str())
                              << "' to be equal on all ranks that store it, "
                                 "but got other elements on ranks "
                              << holders.front() << " and " << rank;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

using SliceReader = function_ref<FailureOr<Tensor>(ArrayRef<int64_t>)>;

/// The slices one after the other.
static FailureOr<std::optional<Tensor>> join(const RanksRunner &ranks,
                                             StringRef name, SliceReader read) {
  if (!ranks.getRank(0).findState(name))
    return std::optional<Tensor>();
  int64_t slices = isJoined(ranks, name) ? countSlices(ranks, name) : 1;
  if (slices > ranks.getNumRanks())
    return findState(ranks, name)->emitError()
           << "expects at most one slice for each of "
           << countText(ranks.getNumRanks(), "rank") << ", but got " << slices;
  std::optional<Tensor> whole;
  for (int64_t slice = 0; slice < slices; ++slice) {
    FailureOr<Tensor> part = read(findHolders(ranks, slices, slice));
    if (failed(part))
      return failure();
    if (slices == 1)
      return std::optional<Tensor>(std::move(*part));
    if (!whole)
      whole = Tensor({slices * part->size()}, part->kind());
    copyElements(*part, 0, *whole, slice * part->size(), part->size());
  }
  return whole;
}

/// A parameter or state, or the list of elements that a flat one is a slice of.
/// Nothing if it has no value.
static FailureOr<std::optional<Tensor>> readWhole(const RanksRunner &ranks,
                                                  StringRef name) {
  bool isGradient =
      llvm::is_contained(ranks.getRank(0).getGradients(), name.str());
  return join(ranks, name, [&](ArrayRef<int64_t> holders) {
    return requireEqual(ranks, name, holders, isGradient);
  });
}

/// The same of a state whose ranks need not agree: the first one's that has it.
static FailureOr<std::optional<Tensor>> readFirst(const RanksRunner &ranks,
                                                  StringRef name) {
  return join(ranks, name, [&](ArrayRef<int64_t> holders) -> FailureOr<Tensor> {
    return *ranks.getRank(holders.front()).findState(name);
  });
}

/// Gives each rank its part.
static LogicalResult writeWhole(RanksRunner &ranks, StringRef name,
                                const Tensor &value) {
  int64_t slices = isJoined(ranks, name) ? countSlices(ranks, name) : 1;
  int64_t elements = value.size() / slices;
  for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank) {
    Tensor part = value;
    if (slices > 1) {
      part = Tensor({elements}, value.kind());
      copyElements(value, rank % slices * elements, part, 0, elements);
    }
    if (failed(ranks.getRank(rank).setState(name, std::move(part))))
      return failure();
  }
  return success();
}

namespace {
/// A segment and the flat state around it.
struct Place {
  SegmentedOpInterface state;
  Segment segment;

  std::string getSymbol() { return SymbolTable::getSymbolName(state).str(); }
};
} // namespace

static SmallVector<SegmentedOpInterface> flatStates(const RanksRunner &ranks) {
  SmallVector<SegmentedOpInterface> states;
  for (auto state : ranks.getModule().getOps<SegmentedOpInterface>())
    if (state.isSegmented() &&
        isJoined(ranks, SymbolTable::getSymbolName(state)))
      states.push_back(state);
  return states;
}

static std::optional<Place> findSegment(const RanksRunner &ranks,
                                        StringRef name) {
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

FailureOr<TensorMap> weft::getNamedStates(const RanksRunner &ranks) {
  TensorMap named;
  for (const auto &[symbol, value] : ranks.getRank(0).getStates()) {
    FailureOr<std::optional<Tensor>> whole = readWhole(ranks, symbol);
    if (failed(whole))
      return failure();
    named.emplace(symbol, std::move(**whole));
  }
  for (SegmentedOpInterface state : flatStates(ranks)) {
    auto found = named.find(SymbolTable::getSymbolName(state).str());
    if (found == named.end())
      continue;
    const Tensor flat = std::move(found->second);
    named.erase(found);
    for (const Segment &segment : state.getSegmentList())
      named[getTensorName(state, segment)] = takeSegment(flat, segment);
  }
  return named;
}

std::vector<std::string> weft::getNamedParameters(const RanksRunner &ranks) {
  std::vector<std::string> names;
  for (const std::string &symbol : ranks.getRank(0).getParameters()) {
    auto state = cast<SegmentedOpInterface>(
        SymbolTable::lookupSymbolIn(ranks.getModule(), symbol));
    if (!state.isSegmented() || !isJoined(ranks, symbol))
      names.push_back(symbol);
    else
      for (const Segment &segment : state.getSegmentList())
        names.push_back(getTensorName(state, segment));
  }
  return names;
}

FailureOr<std::optional<Tensor>> weft::findNamedState(const RanksRunner &ranks,
                                                      StringRef name) {
  std::optional<Place> place = findSegment(ranks, name);
  FailureOr<std::optional<Tensor>> found =
      readWhole(ranks, place ? place->getSymbol() : name.str());
  if (succeeded(found) && *found && place)
    *found = takeSegment(**found, place->segment);
  return found;
}

/// The value of a flat state, or zeros if it has none.
static FailureOr<Tensor> readFlat(const RanksRunner &ranks, Place &place) {
  FailureOr<std::optional<Tensor>> before = readFirst(ranks, place.getSymbol());
  if (failed(before))
    return failure();
  if (*before)
    return std::move(**before);
  ShapedType type = place.state.getShapedType();
  return Tensor({type.getDimSize(0) * place.state.getSliceCount()},
                *elementKindOf(type.getElementType()));
}

LogicalResult weft::setNamedState(RanksRunner &ranks, StringRef name,
                                  Tensor value) {
  std::optional<Place> place = findSegment(ranks, name);
  if (!place) {
    for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank)
      if (failed(ranks.getRank(rank).setState(name, value)))
        return failure();
    return success();
  }
  FailureOr<Tensor> flat = readFlat(ranks, *place);
  if (failed(flat))
    return failure();
  const Segment &segment = place->segment;
  if (ArrayRef<int64_t>(value.shape()) != ArrayRef<int64_t>(segment.shape) ||
      value.isFloat() != flat->isFloat())
    return place->state->emitError() << "'@" << name << "' expects the type "
                                     << takeSegment(*flat, segment).typeText()
                                     << ", but got " << value.typeText();
  copyElements(value, 0, *flat, segment.begin, value.size());
  return writeWhole(ranks, place->getSymbol(), *flat);
}
