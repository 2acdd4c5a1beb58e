//===- SplitSums.cpp - Long reductions in two stages ----------------------===//
//
// A device reduces a tile of columns, or all elements, in one block: few
// columns with many rows leave most of the device idle. Such a reduction is
// split into equal chunks of rows, which many blocks reduce, and a reduction
// over the results of the chunks. If no number of chunks that is large enough
// divides the rows, a separate reduction handles the remaining rows. The split
// depends on the shape alone.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
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

struct SplitSumsPass : weft::impl::SplitSumsPassBase<SplitSumsPass> {
  using SplitSumsPassBase::SplitSumsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<WeftDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<ReduceOp> reduces;
    for (auto program : getOperation().getOps<ProgramOp>())
      llvm::append_range(reduces, program.getBody().front().getOps<ReduceOp>());
    for (ReduceOp reduce : reduces)
      splitLong(reduce);
  }

  std::optional<Work> measure(ReduceOp reduce) const;
  void splitLong(ReduceOp reduce);
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

std::optional<Work> SplitSumsPass::measure(ReduceOp reduce) const {
  if (!reducesLeading(reduce) || !getImplementation(reduce).empty())
    return std::nullopt;
  size_t reduced = reduce.getDims().size();
  int64_t rows = 1, columns = 1;
  for (auto [i, size] : llvm::enumerate(getShape(reduce.getOperand())))
    (i < reduced ? rows : columns) *= size;
  int64_t tiles = columns == 1 ? 1 : llvm::divideCeil(columns, tileColumns);
  int64_t wanted = llvm::divideCeil(int64_t(blocks), tiles);
  if (rows * columns < kLeastTotal || wanted == 1)
    return std::nullopt;
  return Work{rows, wanted,
              rows / (columns == 1 ? kLeastElements : kLeastRows)};
}

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

/// Replaces the reduction.
void SplitSumsPass::replace(ReduceOp reduce, Value result) {
  reduce.replaceAllUsesWith(result);
  reduce.erase();
  ++numSplit;
}

/// Gives the new ops between `before` and the reduction the origin of the
/// reduction.
static void copyOriginBack(ReduceOp reduce, Operation *before) {
  Operation *made =
      before ? before->getNextNode() : &reduce->getBlock()->front();
  for (; made != reduce; made = made->getNextNode())
    copyOrigin(reduce, made);
}

static Value makeReduce(OpBuilder &builder, Location loc, ReduceKind kind,
                        Value value, unsigned from, unsigned to) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(from, to));
  return ReduceOp::create(builder, loc, kind, value, dims);
}

/// Rounds f16 and bf16 once, after both stages.
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
  Value result = combine(combine(chunks, inner, rows), 0, inner);
  result = f.finish(result, reduce.getType());
  copyOriginBack(reduce, before);
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
  copyOriginBack(reduce, before);
  replace(reduce, result);
}
