//===- SplitSums.cpp - Long reductions in two stages ----------------------===//
//
// A device adds up a tile of columns, or everything, in one block: few columns
// of many rows leave most of it idle. Such a reduction is cut into equal chunks
// of rows, which many blocks reduce, and one over the results of the chunks.
// Where the cuts are follows from the shape alone.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Kernels/Passes.h"

namespace weft {
#define GEN_PASS_DEF_SPLITSUMSPASS
#include "weft/Kernels/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// What each chunk must have to be worth a block.
constexpr int64_t kLeastRows = 256, kLeastElements = 1024;
/// Reductions of fewer elements take no longer than another launch.
constexpr int64_t kLeastTotal = int64_t(1) << 16;

/// Dimension `dim` is cut into `parts` equal parts; what stands before it and
/// the parts are the chunks.
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
      if (std::optional<Cut> cut = chooseCut(reduce))
        split(reduce, *cut);
  }

  std::optional<Cut> chooseCut(ReduceOp reduce) const;
  void split(ReduceOp reduce, Cut cut);
};

} // namespace

/// Whether the leading dimensions go, and no others.
static bool reducesLeading(ReduceOp reduce) {
  for (auto [i, dim] : llvm::enumerate(reduce.getDims()))
    if (dim != static_cast<int64_t>(i))
      return false;
  return !reduce.getDims().empty();
}

/// The fewest chunks that fill the device, or else the most that are long
/// enough.
std::optional<Cut> SplitSumsPass::chooseCut(ReduceOp reduce) const {
  llvm::ArrayRef<int64_t> shape =
      cast<RankedTensorType>(reduce.getOperand().getType()).getShape();
  if (!reducesLeading(reduce) || !getImplementation(reduce).empty())
    return std::nullopt;
  size_t reduced = reduce.getDims().size();
  int64_t rows = 1, columns = 1;
  for (auto [i, size] : llvm::enumerate(shape))
    (i < reduced ? rows : columns) *= size;
  if (rows * columns < kLeastTotal)
    return std::nullopt;
  int64_t tiles = columns == 1 ? 1 : llvm::divideCeil(columns, tileColumns);
  int64_t wanted = llvm::divideCeil(int64_t(blocks), tiles);
  int64_t most = rows / (columns == 1 ? kLeastElements : kLeastRows);
  std::optional<Cut> best;
  auto isBetter = [&](int64_t chunks) {
    if (!best || (best->chunks < wanted) != (chunks < wanted))
      return !best || best->chunks < wanted;
    return chunks < wanted ? chunks > best->chunks : chunks < best->chunks;
  };
  int64_t before = 1;
  for (unsigned dim = 0; dim < reduced; before *= shape[dim++])
    for (int64_t parts = 1; parts <= shape[dim]; ++parts) {
      int64_t chunks = before * parts;
      if (chunks > most || chunks > 2 * wanted)
        break;
      if (shape[dim] % parts == 0 && chunks > 1 && isBetter(chunks))
        best = Cut{dim, parts, chunks};
    }
  return wanted > 1 ? best : std::nullopt;
}

/// f16 and bf16 are rounded once, behind both stages.
void SplitSumsPass::split(ReduceOp reduce, Cut cut) {
  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  auto keepScope = [&](auto op) {
    copyScope(reduce, op);
    return op->getResult(0);
  };
  auto cast = [&](Value value, Type element) {
    auto type = mlir::cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return Value(
        keepScope(CastOp::create(builder, loc, type.clone(element), value)));
  };
  auto reshape = [&](Value value, llvm::ArrayRef<int64_t> shape) {
    auto type = mlir::cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    return Value(
        keepScope(ReshapeOp::create(builder, loc, type.clone(shape), value)));
  };
  auto combine = [&](Value value, unsigned from, unsigned to) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(from, to));
    return Value(keepScope(
        ReduceOp::create(builder, loc, reduce.getKind(), value, dims)));
  };
  auto source = mlir::cast<RankedTensorType>(reduce.getOperand().getType());
  Type element = source.getElementType();
  Type wide = element.isF64() ? element : builder.getF32Type();
  llvm::SmallVector<int64_t> shape(source.getShape());
  unsigned rows = reduce.getDims().size(), inner = cut.dim + 1;
  // A dimension that is not cut is one of the chunks.
  if (cut.parts != shape[cut.dim]) {
    shape.insert(shape.begin() + inner, shape[cut.dim] / cut.parts);
    shape[cut.dim] = cut.parts;
    ++rows;
  }
  Value chunks = reshape(cast(reduce.getOperand(), wide), shape);
  Value result = combine(combine(chunks, inner, rows), 0, inner);
  auto type = mlir::cast<RankedTensorType>(reduce.getType());
  reduce.replaceAllUsesWith(reshape(cast(result, element), type.getShape()));
  reduce.erase();
  ++numSplit;
}
