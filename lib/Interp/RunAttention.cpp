//===- RunAttention.cpp - Attention and its adjoint -----------------------===//
//
// Both ops walk over (batch, head, query time) and look at one row of
// probabilities at a time.
//
//===----------------------------------------------------------------------===//

#include "OpFunctions.h"

#include "weft/Abi/DropoutBits.h"
#include "weft/Layout/AttentionMask.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

namespace weft {

/// Sizes and positions of query [B,T,H,D], key and value [B,S,G,D].
struct AttentionShape {
  int64_t batches, queries, keys, heads, groups, width;

  AttentionShape(const Tensor &query, const Tensor &key)
      : batches(query.dim(0)), queries(query.dim(1)), keys(key.dim(1)),
        heads(query.dim(2)), groups(key.dim(2)), width(query.dim(3)) {}

  int64_t groupOf(int64_t head) const { return head / (heads / groups); }
  /// First element of a row of query or out.
  int64_t queryRow(int64_t b, int64_t t, int64_t head) const {
    return ((b * queries + t) * heads + head) * width;
  }
  /// First element of the row of key or value that `head` uses.
  int64_t keyRow(int64_t b, int64_t s, int64_t head) const {
    return ((b * keys + s) * groups + groupOf(head)) * width;
  }
  int64_t lseIndex(int64_t b, int64_t head, int64_t t) const {
    return (b * heads + head) * queries + t;
  }
};

static double dot(const Tensor &a, int64_t aRow, const Tensor &b, int64_t bRow,
                  int64_t width) {
  double sum = 0;
  for (int64_t d = 0; d < width; ++d)
    sum += a.at(aRow + d) * b.at(bRow + d);
  return sum;
}

/// The mask and softcap of both ops.
class AttentionScores {
public:
  /// `rngIndex`: the operand behind the tensors, which segments follow.
  template <typename OpT>
  AttentionScores(OpT op, OpCall &call, unsigned rngIndex,
                  const AttentionShape &shape)
      : mask(AttentionMask::get(op, shape.queries, shape.keys)),
        scale(op.getScale().convertToDouble()) {
    if (op.getSegments())
      segments = &call.operand(rngIndex + (op.getRng() ? 1 : 0));
    if (std::optional<llvm::APFloat> cap = op.getSoftcap())
      softcap = cap->convertToDouble();
  }

  /// Keys that query `t` sees, in order.
  std::vector<int64_t> listVisible(int64_t b, int64_t t) const {
    std::vector<int64_t> visible;
    for (int64_t s = mask.getFirst(t); s < mask.getEnd(t); ++s)
      if (!segments || segments->intAt(b * mask.queries + t) ==
                           segments->intAt(b * mask.queries + s))
        visible.push_back(s);
    return visible;
  }
  /// The score of a product of query and key.
  double score(double product) const {
    const double s = scale * product;
    return softcap ? *softcap * std::tanh(s / *softcap) : s;
  }
  /// Its derivative in the product.
  double slope(double product) const {
    if (!softcap)
      return scale;
    const double t = std::tanh(scale * product / *softcap);
    return scale * (1 - t * t);
  }

private:
  AttentionMask mask;
  const Tensor *segments = nullptr;
  double scale;
  std::optional<double> softcap;
};

/// Stored bits of dropout (DropoutBits.h).
class StoredBits {
public:
  explicit StoredBits(const AttentionShape &shape) : shape(shape) {}

  void write(Tensor &bits, int64_t b, int64_t head, int64_t t, int64_t s,
             bool keeps) const {
    const BitPlace place = findBit(t, s, shape.keys);
    int64_t &word = bits.intAt(firstWord(b, head) + place.word);
    const uint32_t set =
        static_cast<uint32_t>(word) | static_cast<uint32_t>(keeps) << place.bit;
    word = static_cast<int32_t>(set);
  }
  bool read(const Tensor &bits, int64_t b, int64_t head, int64_t t,
            int64_t s) const {
    const BitPlace place = findBit(t, s, shape.keys);
    return bits.intAt(firstWord(b, head) + place.word) >> place.bit & 1;
  }

private:
  int64_t firstWord(int64_t b, int64_t head) const {
    return (b * shape.heads + head) * bitQueryTiles(shape.queries) *
           bitKeyTiles(shape.keys) * kBitWords;
  }

  const AttentionShape &shape;
};

/// The dropout factors of both ops; everything is kept without dropout. They
/// are drawn, or follow from the bits that the forward op has stored.
class AttentionDropout {
public:
  template <typename OpT>
  AttentionDropout(OpT op, OpCall &call, unsigned rngIndex,
                   const AttentionShape &shape)
      : shape(shape), stored(shape) {
    double p = op.getDropout().convertToDouble();
    if (p > 0 && op.getRng())
      mask.emplace(call.operand(rngIndex), static_cast<int64_t>(op.getOpId()),
                   p, call.interpreter.getMode());
    else if (p > 0)
      keepScale = DropoutMask::getKeepScale(p, call.interpreter.getMode());
  }

  /// The operand of the adjoint that replaces random numbers.
  void takeBits(const Tensor &given) { bits = &given; }

  double factor(int64_t b, int64_t head, int64_t t, int64_t s) const {
    if (bits)
      return stored.read(*bits, b, head, t, s) ? keepScale : 0;
    if (!mask)
      return 1;
    return mask->factor(b, (head * shape.queries + t) * shape.keys + s);
  }

private:
  const AttentionShape &shape;
  StoredBits stored;
  std::optional<DropoutMask> mask;
  const Tensor *bits = nullptr;
  double keepScale = 1;
};

template <typename OpT> static llvm::LogicalResult checkRng(OpT op) {
  if (op.getDropout().convertToDouble() > 0 && !op.getRng())
    return op.emitOpError() << "expects an rng operand where dropout is not 0; "
                               "run weft-derive-programs";
  return llvm::success();
}

/// Calls visit(b, head, t) for every row of probabilities.
static void
forEachRow(const AttentionShape &shape,
           llvm::function_ref<void(int64_t, int64_t, int64_t)> visit) {
  for (int64_t b = 0; b < shape.batches; ++b)
    for (int64_t head = 0; head < shape.heads; ++head)
      for (int64_t t = 0; t < shape.queries; ++t)
        visit(b, head, t);
}

template <typename OpT>
static llvm::LogicalResult evaluateAttention(OpCall &call) {
  auto op = call.as<OpT>();
  if (failed(checkRng(op)))
    return llvm::failure();
  const Tensor &q = call.operand(0), &k = call.operand(1), &v = call.operand(2);
  AttentionShape shape(q, k);
  AttentionDropout dropout(op, call, 3, shape);
  AttentionScores rules(op, call, 3, shape);
  const StoredBits bits(shape);
  forEachRow(shape, [&](int64_t b, int64_t head, int64_t t) {
    std::vector<int64_t> visible = rules.listVisible(b, t);
    int64_t queryRow = shape.queryRow(b, t, head);
    std::vector<double> scores;
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t s : visible) {
      scores.push_back(rules.score(
          dot(q, queryRow, k, shape.keyRow(b, s, head), shape.width)));
      most = std::fmax(most, scores.back());
    }
    for (double score : scores)
      sum += std::exp(score - most);
    for (auto [s, score] : llvm::zip_equal(visible, scores)) {
      const double factor = dropout.factor(b, head, t, s);
      if (op.getBits())
        bits.write(call.result(2), b, head, t, s, factor != 0);
      double p = std::exp(score - most) / sum * factor;
      for (int64_t d = 0; d < shape.width; ++d)
        call.result(0).at(queryRow + d) +=
            p * v.at(shape.keyRow(b, s, head) + d);
    }
    // A query that sees no key gives out = 0 and lse = -inf.
    call.result(1).at(shape.lseIndex(b, head, t)) =
        visible.empty() ? most : most + std::log(sum);
  });
  return llvm::success();
}

/// With p the probabilities, m the dropout factors, d p m = dout . v and
/// delta = sum_s p (d p) = dout . out:
///   d score = p (m (dout . v) - delta), d q = slope d score k, ...
template <typename OpT>
static llvm::LogicalResult evaluateAttentionGrad(OpCall &call) {
  auto op = call.as<OpT>();
  if (!op.getBits() && failed(checkRng(op)))
    return llvm::failure();
  const Tensor &dout = call.operand(0), &q = call.operand(1);
  const Tensor &k = call.operand(2), &v = call.operand(3);
  const Tensor &out = call.operand(4), &lse = call.operand(5);
  AttentionShape shape(q, k);
  AttentionDropout dropout(op, call, 6, shape);
  if (op.getBits())
    dropout.takeBits(*call.operands.back());
  AttentionScores rules(op, call, 6, shape);
  forEachRow(shape, [&](int64_t b, int64_t head, int64_t t) {
    int64_t queryRow = shape.queryRow(b, t, head);
    double delta = dot(dout, queryRow, out, queryRow, shape.width);
    for (int64_t s : rules.listVisible(b, t)) {
      int64_t keyRow = shape.keyRow(b, s, head);
      double product = dot(q, queryRow, k, keyRow, shape.width);
      double p =
          std::exp(rules.score(product) - lse.at(shape.lseIndex(b, head, t)));
      double factor = dropout.factor(b, head, t, s);
      double dp = factor * dot(dout, queryRow, v, keyRow, shape.width);
      double dscore = p * (dp - delta) * rules.slope(product);
      for (int64_t d = 0; d < shape.width; ++d) {
        call.result(0).at(queryRow + d) += dscore * k.at(keyRow + d);
        call.result(1).at(keyRow + d) += dscore * q.at(queryRow + d);
        call.result(2).at(keyRow + d) += p * factor * dout.at(queryRow + d);
      }
    }
  });
  return llvm::success();
}

void addAttentionOps(mlir::MLIRContext *context) {
  interpretAs<AttentionOp>(context, evaluateAttention<AttentionOp>);
  interpretAs<AttentionGradOp>(context, evaluateAttentionGrad<AttentionGradOp>);
}

void addAttentionCommands(mlir::MLIRContext *context) {
  interpretAs<plan::AttentionOp>(context, evaluateAttention<plan::AttentionOp>);
  interpretAs<plan::AttentionGradOp>(
      context, evaluateAttentionGrad<plan::AttentionGradOp>);
}

} // namespace weft
