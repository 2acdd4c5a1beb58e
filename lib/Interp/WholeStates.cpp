//===- WholeStates.cpp - One tensor of all ranks --------------------------===//

#include "WholeStates.h"

#include "weft/Weft/Weft.h"

#include <algorithm>
#include <cstring>

namespace weft {

static mlir::Operation *findState(const RanksRunner &ranks,
                                  llvm::StringRef state) {
  return mlir::SymbolTable::lookupSymbolIn(ranks.getModule(), state);
}

bool isJoined(const RanksRunner &ranks, llvm::StringRef state) {
  return ranks.getNumRanks() > 1 || countSlices(ranks, state) == 1;
}

template <typename T>
static void copyElements(const std::vector<T> &from, int64_t begin,
                         std::vector<T> &to, int64_t at, int64_t count) {
  if (!from.empty())
    std::copy_n(from.begin() + begin, count, to.begin() + at);
}

void copyElements(const Tensor &from, int64_t begin, Tensor &to, int64_t at,
                  int64_t count) {
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
static std::optional<std::string> findDifference(mlir::Operation *op,
                                                 int64_t first, const Tensor &a,
                                                 const Tensor &b) {
  auto state = llvm::cast<SegmentedOpInterface>(op);
  if (!state.isSegmented()) {
    if (isSame(a, b, 0, a.size()))
      return std::nullopt;
    return mlir::SymbolTable::getSymbolName(op).str();
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
static llvm::FailureOr<Tensor> requireEqual(const RanksRunner &ranks,
                                            llvm::StringRef name,
                                            llvm::ArrayRef<int64_t> holders,
                                            bool isGradient) {
  const Tensor &first = *ranks.getRank(holders.front()).findState(name);
  mlir::Operation *state = findState(ranks, name);
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
    return state->emitError()
           << "expects '@" << differs.value_or(name.str())
           << "' to be equal on all ranks that hold it, but got other elements "
              "on ranks "
           << holders.front() << " and " << rank;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

using SliceReader =
    llvm::function_ref<llvm::FailureOr<Tensor>(llvm::ArrayRef<int64_t>)>;

/// The slices one after the other.
static llvm::FailureOr<std::optional<Tensor>>
join(const RanksRunner &ranks, llvm::StringRef name, SliceReader read) {
  if (!ranks.getRank(0).findState(name))
    return std::optional<Tensor>();
  int64_t slices = isJoined(ranks, name) ? countSlices(ranks, name) : 1;
  if (slices > ranks.getNumRanks())
    return findState(ranks, name)->emitError()
           << "expects at most one slice for each of " << ranks.getNumRanks()
           << " ranks, but got " << slices;
  std::optional<Tensor> whole;
  for (int64_t slice = 0; slice < slices; ++slice) {
    llvm::FailureOr<Tensor> part = read(findHolders(ranks, slices, slice));
    if (failed(part))
      return llvm::failure();
    if (slices == 1)
      return std::optional<Tensor>(std::move(*part));
    if (!whole)
      whole = Tensor({slices * part->size()}, part->kind());
    copyElements(*part, 0, *whole, slice * part->size(), part->size());
  }
  return whole;
}

llvm::FailureOr<std::optional<Tensor>> readWhole(const RanksRunner &ranks,
                                                 llvm::StringRef name) {
  bool isGradient =
      llvm::is_contained(ranks.getRank(0).getGradients(), name.str());
  return join(ranks, name, [&](llvm::ArrayRef<int64_t> holders) {
    return requireEqual(ranks, name, holders, isGradient);
  });
}

llvm::FailureOr<std::optional<Tensor>> readFirst(const RanksRunner &ranks,
                                                 llvm::StringRef name) {
  return join(ranks, name,
              [&](llvm::ArrayRef<int64_t> holders) -> llvm::FailureOr<Tensor> {
                return *ranks.getRank(holders.front()).findState(name);
              });
}

llvm::LogicalResult writeWhole(RanksRunner &ranks, llvm::StringRef name,
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
      return llvm::failure();
  }
  return llvm::success();
}

} // namespace weft
