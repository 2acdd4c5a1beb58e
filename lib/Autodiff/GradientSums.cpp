//===- GradientSums.cpp - Gradients waiting at a value --------------------===//

#include "GradientSums.h"

#include "weft/Weft/Weft.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace mlir;
using namespace weft;

namespace {

/// A gradient that is zero outside [begin, end) of one dimension.
struct Piece {
  Value inner;
  int64_t dim, begin, end;
};

/// The piece that `grad` pads, if it pads one dimension only.
std::optional<Piece> asPiece(Value grad) {
  auto pad = grad.getDefiningOp<PadOp>();
  if (!pad || llvm::any_of(pad.getInterior(), [](int64_t n) { return n != 0; }))
    return std::nullopt;
  std::optional<Piece> piece;
  auto shape = cast<RankedTensorType>(pad.getOperand().getType()).getShape();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t low = pad.getLow()[dim], high = pad.getHigh()[dim];
    if (low == 0 && high == 0)
      continue;
    if (piece || low < 0 || high < 0)
      return std::nullopt;
    piece = Piece{pad.getOperand(), static_cast<int64_t>(dim), low, low + size};
  }
  return piece;
}

/// The concatenation of `grads` if each is a piece of one dimension and the
/// pieces tile it, else null. Equal to the sum, without the zeros. The pads
/// stay for whoever else uses them.
Value joinPieces(ArrayRef<Value> grads, OpBuilder &builder, Location loc) {
  SmallVector<Piece> pieces;
  for (Value grad : grads) {
    std::optional<Piece> piece = asPiece(grad);
    if (!piece || (!pieces.empty() && piece->dim != pieces.front().dim))
      return nullptr;
    pieces.push_back(*piece);
  }
  llvm::sort(pieces, [](const Piece &a, const Piece &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  int64_t dim = pieces.front().dim, covered = 0;
  for (const Piece &piece : pieces) {
    if (piece.begin != covered)
      return nullptr;
    covered = piece.end;
  }
  if (covered !=
      cast<RankedTensorType>(grads.front().getType()).getDimSize(dim))
    return nullptr;
  auto inners = llvm::map_to_vector(pieces, [](Piece &p) { return p.inner; });
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(GradientSums::lastOp(grads));
  return ConcatOp::create(builder, loc, ValueRange(inners),
                          static_cast<uint64_t>(dim));
}

} // namespace

void GradientSums::add(Value value, Value grad) {
  grads[value].push_back(grad);
}

SmallVector<Value, 2> GradientSums::takeTerms(Value value) {
  auto found = grads.find(value);
  if (found == grads.end())
    return {};
  SmallVector<Value, 2> terms = std::move(found->second);
  grads.erase(found);
  return terms;
}

SmallVector<Value, 2> GradientSums::join(SmallVector<Value, 2> terms,
                                         OpBuilder &builder, Location loc) {
  if (terms.size() > 1)
    if (Value joined = joinPieces(terms, builder, loc))
      return {joined};
  return terms;
}

Operation *GradientSums::lastOp(ArrayRef<Value> values) {
  Operation *last = nullptr;
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (op && (!last || last->isBeforeInBlock(op)))
      last = op;
  }
  return last;
}

Value GradientSums::sum(ArrayRef<Value> terms, OpBuilder &builder,
                        Location loc) {
  Value sum;
  for (Value term : terms)
    sum = sum ? AddOp::create(builder, loc, sum, term) : term;
  return sum;
}

Value GradientSums::take(Value value, OpBuilder &builder, Location loc) {
  return sum(join(takeTerms(value), builder, loc), builder, loc);
}
