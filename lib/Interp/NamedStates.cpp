//===- NamedStates.cpp - States by the names of checkpoints ---------------===//

#include "weft/Interp/NamedStates.h"

#include "weft/Weft/Weft.h"

#include <algorithm>

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
flatStates(const ModuleRunner &runner) {
  llvm::SmallVector<SegmentedOpInterface> states;
  for (auto state : runner.getModule().getOps<SegmentedOpInterface>())
    if (state.isSegmented() && state.getSliceCount() == 1)
      states.push_back(state);
  return states;
}

static std::optional<Place> findSegment(const ModuleRunner &runner,
                                        llvm::StringRef name) {
  for (SegmentedOpInterface state : flatStates(runner))
    for (const Segment &segment : state.getSegmentList())
      if (getTensorName(state, segment) == name)
        return Place{state, segment};
  return std::nullopt;
}

template <typename T>
static void copyElements(const std::vector<T> &from, int64_t begin,
                         std::vector<T> &to, int64_t at, int64_t count) {
  if (!from.empty())
    std::copy_n(from.begin() + begin, count, to.begin() + at);
}

static Tensor takeSegment(const Tensor &flat, const Segment &segment) {
  Tensor taken({segment.shape.begin(), segment.shape.end()}, flat.kind());
  const int64_t count = segment.end - segment.begin;
  copyElements(flat.floatValues(), segment.begin, taken.floatValues(), 0,
               count);
  copyElements(flat.intValues(), segment.begin, taken.intValues(), 0, count);
  return taken;
}

static void putSegment(const Tensor &value, Tensor &flat,
                       const Segment &segment) {
  const int64_t count = segment.end - segment.begin;
  copyElements(value.floatValues(), 0, flat.floatValues(), segment.begin,
               count);
  copyElements(value.intValues(), 0, flat.intValues(), segment.begin, count);
}

TensorMap getNamedStates(const ModuleRunner &runner) {
  TensorMap named = runner.getStates();
  for (SegmentedOpInterface state : flatStates(runner)) {
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

std::vector<std::string> getNamedParameters(const ModuleRunner &runner) {
  std::vector<std::string> names;
  for (const std::string &symbol : runner.getParameters()) {
    auto state = llvm::cast<SegmentedOpInterface>(
        mlir::SymbolTable::lookupSymbolIn(runner.getModule(), symbol));
    if (!state.isSegmented() || state.getSliceCount() != 1)
      names.push_back(symbol);
    else
      for (const Segment &segment : state.getSegmentList())
        names.push_back(getTensorName(state, segment));
  }
  return names;
}

std::optional<Tensor> findNamedState(const ModuleRunner &runner,
                                     llvm::StringRef name) {
  std::optional<Place> place = findSegment(runner, name);
  const Tensor *found =
      runner.findState(place ? place->getSymbol() : name.str());
  if (!found)
    return std::nullopt;
  return place ? takeSegment(*found, place->segment) : *found;
}

llvm::LogicalResult setNamedState(ModuleRunner &runner, llvm::StringRef name,
                                  Tensor value) {
  std::optional<Place> place = findSegment(runner, name);
  if (!place)
    return runner.setState(name, std::move(value));
  mlir::ShapedType shaped = place->state.getShapedType();
  auto type =
      mlir::RankedTensorType::get(shaped.getShape(), shaped.getElementType());
  const Tensor *before = runner.findState(place->getSymbol());
  Tensor flat = before ? *before : Tensor(type);
  const auto &shape = place->segment.shape;
  if (llvm::ArrayRef<int64_t>(value.shape()) !=
          llvm::ArrayRef<int64_t>(shape) ||
      value.isFloat() != flat.isFloat())
    return place->state->emitError()
           << "'@" << name << "' expects the type "
           << takeSegment(flat, place->segment).typeText() << ", but got "
           << value.typeText();
  putSegment(value, flat, place->segment);
  return runner.setState(place->getSymbol(), std::move(flat));
}

} // namespace weft
