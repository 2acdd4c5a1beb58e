//===- SplitSums.cpp - Long reductions in two stages ----------------------===//
//
// A device reduces a tile of columns, or all elements, in one block: few
// columns with many rows leave most of the device idle. Such a reduction is
// split into equal chunks of rows, which many blocks reduce, and a reduction
// over the results of the chunks. If no number of chunks that is large enough
// divides the rows, a separate reduction handles the remaining rows. The split
// depends on the shape alone. Sums of rows that a kernel reduces are split into
// the groups of rows that its blocks add up.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Analysis/RowSums.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

namespace weft {
#define GEN_PASS_DEF_SPLITSUMSPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// The minimum size of a chunk that is worth a block.
constexpr int64_t kLeastRows = 256, kLeastElements = 1024;
/// Reductions of fewer elements take no longer than another launch.
constexpr int64_t kLeastTotal = int64_t(1) << 16;
/// Blocks of a kernel of rows that fill a device.
constexpr int64_t kRowBlocks = 256;
/// A group of rows has at least this share of the rows that a block can add up:
/// more groups would write more sums.
constexpr int64_t kLeastShare = 4;

/// A reduction worth splitting: its rows, the number of chunks that fill the
/// device, and the largest number of chunks that are long enough.
struct Work {
  int64_t rows, wanted, most;
};

/// Dimension `dim` is split into `parts` equal parts. The dimensions before it
/// and the parts form the chunks.
struct Cut {
  unsigned dim;
  int64_t parts, chunks;
};

using SumSet = llvm::SmallDenseSet<Operation *, 16>;
using Cone = llvm::SmallDenseSet<Value, 16>;

SumSet findSumsOfKernels(Block &block);

struct SplitSumsPass : weft::impl::SplitSumsPassBase<SplitSumsPass> {
  using SplitSumsPassBase::SplitSumsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<WeftDialect>();
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      SumSet sums;
      if (sumsInRows)
        sums = findSumsOfKernels(block);
      for (ReduceOp reduce : llvm::to_vector(block.getOps<ReduceOp>()))
        if (!sums.contains(reduce) || !splitInKernel(reduce))
          splitLong(reduce);
    }
  }

  std::optional<Work> measure(ReduceOp reduce) const;
  void splitLong(ReduceOp reduce);
  bool splitInKernel(ReduceOp reduce);
  void split(ReduceOp reduce, Cut cut);
  void splitUnevenly(ReduceOp reduce, int64_t chunks);
  void replace(ReduceOp reduce, Value result);
};

} // namespace

/// Whether the reduction reduces exactly leading dimensions.
static bool reducesLeading(ReduceOp reduce) {
  for (auto [i, dim] : llvm::enumerate(reduce.getDims()))
    if (dim != static_cast<int64_t>(i))
      return false;
  return !reduce.getDims().empty();
}

/// Whether the reduction leaves the elements of a row.
static bool reducesRows(ReduceOp reduce) {
  return reducesLeading(reduce) &&
         reduce.getDims().size() + 1 == getShape(reduce.getOperand()).size();
}

static std::pair<int64_t, int64_t> countRowsAndColumns(ReduceOp reduce) {
  size_t reduced = reduce.getDims().size();
  int64_t rows = 1, columns = 1;
  for (auto [i, size] : llvm::enumerate(getShape(reduce.getOperand())))
    (i < reduced ? rows : columns) *= size;
  return {rows, columns};
}

std::optional<Work> SplitSumsPass::measure(ReduceOp reduce) const {
  if (!reducesLeading(reduce) || !getImplementation(reduce).empty())
    return std::nullopt;
  auto [rows, columns] = countRowsAndColumns(reduce);
  int64_t tiles = columns == 1 ? 1 : llvm::divideCeil(columns, tileColumns);
  int64_t wanted = llvm::divideCeil(int64_t(blocks), tiles);
  if (rows * columns < kLeastTotal || wanted == 1)
    return std::nullopt;
  return Work{rows, wanted,
              rows / (columns == 1 ? kLeastElements : kLeastRows)};
}

//===----------------------------------------------------------------------===//
// Sums in kernels of rows
//===----------------------------------------------------------------------===//

/// Whether the reduction is over the last dimension alone.
static bool isOverLast(ReduceOp reduce) {
  auto rank = static_cast<int64_t>(getShape(reduce.getOperand()).size());
  return reduce.getDims() == ArrayRef<int64_t>{rank - 1};
}

/// The values with as many elements as the operand that the reduction depends
/// on, back to barriers.
static Cone findCone(ReduceOp reduce,
                     const DenseMap<Operation *, unsigned> &barriers) {
  const unsigned segment = barriers.lookup(reduce);
  auto count = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  };
  const int64_t points = count(reduce.getOperand());
  Cone cone, seen;
  llvm::SmallVector<Value> work = {reduce.getOperand()};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (count(value) == points)
      cone.insert(value);
    Operation *op = value.getDefiningOp();
    if (op && barriers.lookup(op) == segment && !isFusionBarrier(op))
      llvm::append_range(work, op->getOperands());
  }
  return cone;
}

/// The sums over rows of values that a reduction of the same rows shares, so
/// that one kernel can compute both.
namespace {
SumSet findSumsOfKernels(Block &block) {
  DenseMap<Operation *, unsigned> barriers; // barriers before each op
  llvm::MapVector<unsigned, llvm::SmallVector<ReduceOp>> sums, rows;
  unsigned count = 0;
  for (Operation &op : block) {
    barriers[&op] = count;
    count += isFusionBarrier(&op);
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || !getImplementation(&op).empty())
      continue;
    if (isOverLast(reduce))
      rows[barriers[&op]].push_back(reduce);
    else if (reduce.getKind() == ReduceKind::Sum && reducesRows(reduce))
      sums[barriers[&op]].push_back(reduce);
  }
  SumSet found;
  for (auto &[segment, list] : sums) {
    Cone reduced;
    for (ReduceOp row : rows.lookup(segment))
      reduced.insert_range(findCone(row, barriers));
    for (ReduceOp sum : list)
      if (llvm::any_of(findCone(sum, barriers),
                       [&](Value value) { return reduced.contains(value); }))
        found.insert(sum);
  }
  return found;
}
} // namespace

/// The fewest chunks that fill the device, or else the most chunks that are
/// long enough.
static std::optional<Cut> chooseCut(ReduceOp reduce, const Work &work) {
  llvm::ArrayRef<int64_t> shape = getShape(reduce.getOperand());
  std::optional<Cut> best;
  auto isBetter = [&](int64_t chunks) {
    if (!best || (best->chunks < work.wanted) != (chunks < work.wanted))
      return !best || best->chunks < work.wanted;
    return chunks < work.wanted ? chunks > best->chunks : chunks < best->chunks;
  };
  int64_t before = 1;
  for (unsigned dim = 0; dim < reduce.getDims().size(); before *= shape[dim++])
    for (int64_t parts = 1; parts <= shape[dim]; ++parts) {
      int64_t chunks = before * parts;
      if (chunks > work.most || chunks > 2 * work.wanted)
        break;
      if (shape[dim] % parts == 0 && chunks > 1 && isBetter(chunks))
        best = Cut{dim, parts, chunks};
    }
  return best;
}

/// Splits into equal chunks, unless these would occupy at most half of the
/// usable blocks.
void SplitSumsPass::splitLong(ReduceOp reduce) {
  std::optional<Work> work = measure(reduce);
  if (!work)
    return;
  const int64_t chunks = std::min(work->wanted, work->most);
  std::optional<Cut> cut = chooseCut(reduce, *work);
  if (cut && 2 * cut->chunks > chunks)
    return split(reduce, *cut);
  if (chunks > 1)
    splitUnevenly(reduce, chunks);
}

/// Splits a sum into the groups of rows that blocks of a kernel add up, if some
/// number of groups divides the rows.
bool SplitSumsPass::splitInKernel(ReduceOp reduce) {
  auto [rows, columns] = countRowsAndColumns(reduce);
  const int64_t most = getMostSummedRows(columns);
  const int64_t least = std::max<int64_t>(1, most / kLeastShare);
  if (rows * columns < kLeastTotal)
    return false;
  Work work = {rows, 0, rows / least};
  work.wanted = std::max<int64_t>(llvm::divideCeil(rows, most),
                                  std::min(kRowBlocks, rows / least));
  std::optional<Cut> cut = chooseCut(reduce, work);
  if (!cut || rows / cut->chunks > most)
    return false;
  split(reduce, *cut);
  return true;
}

/// Replaces the reduction.
void SplitSumsPass::replace(ReduceOp reduce, Value result) {
  reduce.replaceAllUsesWith(result);
  reduce.erase();
  ++numSplit;
}

/// Gives the new ops between `before` and `end` the origin of the reduction.
static void copyOriginBack(ReduceOp reduce, Operation *before, Operation *end) {
  Operation *made =
      before ? before->getNextNode() : &reduce->getBlock()->front();
  for (; made != end; made = made->getNextNode())
    copyOrigin(reduce, made);
}

static Operation *findFirstUser(ReduceOp reduce) {
  Operation *first = nullptr;
  for (Operation *user : reduce->getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  return first;
}

static Value makeReduce(OpBuilder &builder, Location loc, ReduceKind kind,
                        Value value, unsigned from, unsigned to) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(from, to));
  return ReduceOp::create(builder, loc, kind, value, dims);
}

/// Rounds f16 and bf16 once, after both stages. The second stage is in front of
/// the first reader, since a kernel that computes the first stage of several
/// sums ends before the first second stage.
void SplitSumsPass::split(ReduceOp reduce, Cut cut) {
  OpBuilder builder(reduce);
  Operation *before = reduce->getPrevNode();
  FormulaBuilder f(builder, reduce.getLoc());
  llvm::SmallVector<int64_t> shape(getShape(reduce.getOperand()));
  unsigned rows = reduce.getDims().size(), inner = cut.dim + 1;
  // A dimension that is not cut is one of the chunks.
  if (cut.parts != shape[cut.dim]) {
    shape.insert(shape.begin() + inner, shape[cut.dim] / cut.parts);
    shape[cut.dim] = cut.parts;
    ++rows;
  }
  auto combine = [&](Value value, unsigned from, unsigned to) {
    return makeReduce(builder, reduce.getLoc(), reduce.getKind(), value, from,
                      to);
  };
  // A kernel reads through a widening cast, but not through a reshape behind
  // it.
  auto cast = reduce.getOperand().getDefiningOp<CastOp>();
  Value all = isWideningCast(cast) ? cast.getOperand() : reduce.getOperand();
  Value chunks = f.widen(f.reshape(all, shape));
  Value result = combine(chunks, inner, rows);
  copyOriginBack(reduce, before, reduce);
  Operation *user = findFirstUser(reduce), *end = user ? user : reduce;
  builder.setInsertionPoint(end);
  before = end->getPrevNode();
  result = f.finish(combine(result, 0, inner), reduce.getType());
  copyOriginBack(reduce, before, end);
  replace(reduce, result);
}

/// The rows [begin, end) of a value, in f32 or f64.
static Value sliceRows(OpBuilder &builder, FormulaBuilder &f, Value value,
                       int64_t begin, int64_t end) {
  llvm::SmallVector<int64_t> sizes(getShape(value));
  llvm::SmallVector<int64_t> offsets(sizes.size(), 0), ones(sizes.size(), 1);
  offsets.front() = begin;
  sizes.front() = end - begin;
  auto type = cast<RankedTensorType>(value.getType()).clone(sizes);
  return f.widen(SliceOp::create(builder, value.getLoc(), type, value, offsets,
                                 sizes, ones));
}

static Value combineBoth(FormulaBuilder &f, ReduceKind kind, Value x, Value y) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return f.add(x, y);
  case ReduceKind::Max:
    return f.max(x, y);
  case ReduceKind::Min:
    return f.min(x, y);
  }
  llvm_unreachable("covered switch");
}

/// Splits into chunks of equal length and a separate reduction of the remaining
/// rows. A mean is divided at the end.
void SplitSumsPass::splitUnevenly(ReduceOp reduce, int64_t chunks) {
  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  Operation *before = reduce->getPrevNode();
  FormulaBuilder f(builder, loc);
  const bool isMean = reduce.getKind() == ReduceKind::Mean;
  const ReduceKind kind = isMean ? ReduceKind::Sum : reduce.getKind();
  llvm::SmallVector<int64_t> shape(
      getShape(reduce.getOperand()).drop_front(reduce.getDims().size()));
  const int64_t rows = measure(reduce)->rows, length = rows / chunks;
  shape.insert(shape.begin(), rows);
  Value all = f.reshape(reduce.getOperand(), shape);
  Value main = sliceRows(builder, f, all, 0, chunks * length);
  shape.front() = length;
  shape.insert(shape.begin(), chunks);
  Value result = makeReduce(builder, loc, kind, f.reshape(main, shape), 1, 2);
  result = makeReduce(builder, loc, kind, result, 0, 1);
  if (rows > chunks * length) {
    Value rest = sliceRows(builder, f, all, chunks * length, rows);
    result = combineBoth(f, kind, result,
                         makeReduce(builder, loc, kind, rest, 0, 1));
  }
  if (isMean)
    result = f.div(result, f.constant(double(rows), result));
  result = f.finish(result, reduce.getType());
  copyOriginBack(reduce, before, reduce);
  replace(reduce, result);
}
