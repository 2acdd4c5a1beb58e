//===- MatrixCommands.cpp - Products, attention, tables -------------------===//

#include "Commands.h"

#include "weft/Abi/DropoutBits.h"
#include "weft/Layout/AttentionMask.h"
#include "weft/Layout/ProductShape.h"

#include <cmath>

using namespace mlir;
using namespace llvm;

namespace weft::plan {

static LogicalResult verifyDense(Operation *op, StringRef name, Value buffer) {
  if (Layout::get(getType(buffer)).isDense())
    return success();
  return op->emitOpError("expects a dense ")
         << name << ", but got " << buffer.getType();
}

/// `adds` and `flag` say the same thing twice.
template <typename OpT> static LogicalResult verifyAccumulate(OpT op) {
  if (!op.getAdds() || !op.getFlag())
    return success();
  return op.emitOpError("expects either a flag or adds, but got both");
}

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;
using MemoryEffects::Read, MemoryEffects::Write;

/// Adds an effect on the operands of some groups.
template <typename EffectT, typename OpT>
static void addEffects(OpT op, ArrayRef<unsigned> groups, Effects &effects) {
  for (unsigned group : groups) {
    auto [first, count] = op.getODSOperandIndexAndLength(group);
    for (OpOperand &operand : op->getOpOperands().slice(first, count))
      effects.emplace_back(EffectT::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// GemmOp
//===----------------------------------------------------------------------===//

static bool isGradient(Epilogue epilogue) {
  return epilogue == Epilogue::ReluGrad || epilogue == Epilogue::GeluGrad;
}

void GemmOp::getEffects(Effects &effects) {
  addEffects<Read>(*this,
                   {odsIndex_lhs, odsIndex_rhs, odsIndex_bias, odsIndex_flag},
                   effects);
  addEffects<Write>(*this,
                    {odsIndex_target, odsIndex_column_sum, odsIndex_lhs_sum,
                     odsIndex_rhs_sum, odsIndex_workspace},
                    effects);
  if (isGradient(getEpilogue()))
    addEffects<Read>(*this, odsIndex_aux, effects);
  else
    addEffects<Write>(*this, odsIndex_aux, effects);
  if (accumulates())
    addEffects<Read>(*this, odsIndex_target, effects);
}

/// The type of the factors: the target of an accumulation may be larger and
/// have another type.
Type GemmOp::getElementType() { return getType(getLhs()).getElementType(); }

bool GemmOp::isFlat() {
  return getType(getRhs()).getRank() == 2 && !getTransposeLhs() &&
         StoredMatrix::get(Layout::get(getType(getLhs())), true) &&
         StoredMatrix::get(Layout::get(getType(getTarget())), true);
}

std::optional<StoredMatrix> GemmOp::getMatrix(Value factor) {
  bool flat = factor != getRhs() && isFlat();
  return StoredMatrix::get(Layout::get(getType(factor)), flat);
}

static LogicalResult verifyMatrices(GemmOp op) {
  for (auto [name, buffer] : {std::pair<StringRef, Value>{"lhs", op.getLhs()},
                              {"rhs", op.getRhs()},
                              {"target", op.getTarget()}}) {
    std::optional<StoredMatrix> matrix = op.getMatrix(buffer);
    if (!matrix || (matrix->transposed && buffer == op.getTarget()))
      return op.emitOpError("expects ")
             << name << " to be stored as rows at one distance, but got "
             << buffer.getType();
  }
  return success();
}

/// Sums, or null, of `size` numbers.
static LogicalResult verifySums(GemmOp op, StringRef name, Value sums,
                                int64_t size) {
  if (!sums)
    return success();
  if (failed(verifyShape(op, name, sums, size)))
    return failure();
  return verifyDense(op, name, sums);
}

static LogicalResult verifyFactorSums(GemmOp op, const ProductShape &shape) {
  MemRefType lhs = getType(op.getLhs()), rhs = getType(op.getRhs());
  if ((op.getLhsSum() || op.getRhsSum()) &&
      (lhs.getRank() != 2 || rhs.getRank() != 2))
    return op.emitOpError("expects factors of rank 2 with ")
           << (op.getLhsSum() ? "lhs_sum" : "rhs_sum") << ", but got " << lhs
           << " and " << rhs;
  if (failed(verifySums(op, "lhs_sum", op.getLhsSum(), shape.m)))
    return failure();
  return verifySums(op, "rhs_sum", op.getRhsSum(), shape.n);
}

/// Operands that only some epilogues have.
static LogicalResult verifyEpilogue(GemmOp op, int64_t columns) {
  Type element = getType(op.getLhs()).getElementType();
  if (Value bias = op.getBias()) {
    if (failed(verifyShape(op, "bias", bias, columns)) ||
        failed(verifyElement(op, "bias", bias, element)) ||
        failed(verifyDense(op, "bias", bias)))
      return failure();
  }
  if (failed(verifySums(op, "column_sum", op.getColumnSum(), columns)))
    return failure();
  if (isGradient(op.getEpilogue()) && !op.getAux())
    return op.emitOpError("expects aux for the epilogue ")
           << stringifyEpilogue(op.getEpilogue());
  if (!op.getAux())
    return success();
  if (op.getEpilogue() == Epilogue::None)
    return op.emitOpError("expects an epilogue that has an aux, but got none");
  if (failed(verifyShape(op, "aux", op.getAux(),
                         getType(op.getTarget()).getShape())))
    return failure();
  return verifyDense(op, "aux", op.getAux());
}

LogicalResult GemmOp::verify() {
  MemRefType lhs = getType(getLhs()), rhs = getType(getRhs());
  std::optional<ProductShape> shape = ProductShape::get(
      lhs.getShape(), rhs.getShape(), getTransposeLhs(), getTransposeRhs());
  if (!shape || !shape->isValid())
    return emitOpError(
               "expects factors whose inner and batch dimensions agree, "
               "but got ")
           << lhs << (getTransposeLhs() ? " transposed" : "") << " and " << rhs
           << (getTransposeRhs() ? " transposed" : "");
  Type element = lhs.getElementType();
  if (failed(verifyElement(*this, "rhs", getRhs(), element)) ||
      failed(verifyShape(*this, "target", getTarget(), shape->getResult())) ||
      failed(verifyElement(*this, "target", getTarget(), element, true)) ||
      failed(verifyAccumulate(*this)) || failed(verifyMatrices(*this)) ||
      failed(verifyFactorSums(*this, *shape)))
    return failure();
  return verifyEpilogue(*this, shape->n);
}

//===----------------------------------------------------------------------===//
// AttentionOp and AttentionGradOp
//===----------------------------------------------------------------------===//

/// [B,T,H,D] and [B,S,G,D] of one type, G dividing H.
static LogicalResult verifyHeads(Operation *op, MemRefType query,
                                 MemRefType key) {
  ArrayRef<int64_t> q = query.getShape(), k = key.getShape();
  if (q.size() == 4 && k.size() == 4 && q[0] == k[0] && q[3] == k[3] &&
      k[2] > 0 && q[2] % k[2] == 0 &&
      query.getElementType() == key.getElementType())
    return success();
  return op->emitOpError("expects a query [B,T,H,D] and a key [B,S,G,D] of one "
                         "type where G divides H, but got ")
         << query << " and " << key;
}

/// Heads are read and written element by element of their last dimension.
static LogicalResult verifyWidth(Operation *op) {
  for (Value buffer : op->getOperands()) {
    MemRefType type = getType(buffer);
    Layout layout = Layout::get(type);
    if (type.getRank() == 4 && layout.sizes.back() != 1 &&
        layout.strides.back() != 1)
      return op->emitOpError("expects heads whose last stride is 1, but got ")
             << type;
  }
  return success();
}

template <typename OpT> static LogicalResult verifySegments(OpT op) {
  if (!op.getSegments())
    return success();
  ArrayRef<int64_t> q = getType(op.getQuery()).getShape();
  if (failed(verifyShape(op, "segments", op.getSegments(), {q[0], q[1]})))
    return failure();
  return verifyDense(op, "buffer of segments", op.getSegments());
}

/// The seed of dropout, which stored bits replace.
template <typename OpT> static LogicalResult verifyDropout(OpT op) {
  double dropout = op.getDropout().convertToDouble();
  if (!(dropout >= 0 && dropout <= 1))
    return op.emitOpError("expects dropout in [0, 1], but got ") << dropout;
  // Gradients with bits draw nothing.
  constexpr bool isGradient = std::is_same_v<OpT, AttentionGradOp>;
  const bool draws = dropout > 0 && !(isGradient && op.getBits());
  if (isGradient && op.getBits() && op.getRng())
    return op.emitOpError("expects either rng or bits, but got both");
  if (draws != (op.getRng() != Value()))
    return op.emitOpError(
        "expects rng where dropout is above 0 and only there");
  if (op.getRng() && (failed(verifyShape(op, "rng", op.getRng(), 2)) ||
                      failed(verifyDense(op, "rng", op.getRng()))))
    return failure();
  return success();
}

/// Words of bits, if the command has them.
template <typename OpT> static LogicalResult verifyBits(OpT op) {
  if (!op.getBits())
    return success();
  if (op.getDropout().isZero())
    return op.emitOpError("expects bits only where dropout is above 0, but got "
                          "dropout of 0");
  ArrayRef<int64_t> q = getType(op.getQuery()).getShape();
  const int64_t keys = getType(op.getKey()).getDimSize(1);
  if (failed(verifyShape(
          op, "bits", op.getBits(),
          {q[0], q[2], bitQueryTiles(q[1]), bitKeyTiles(keys), kBitWords})))
    return failure();
  return verifyDense(op, "buffer of bits", op.getBits());
}

template <typename OpT> static LogicalResult verifyAttention(OpT op) {
  MemRefType query = getType(op.getQuery()), key = getType(op.getKey());
  if (failed(verifyHeads(op, query, key)) ||
      failed(verifyLike(op, "value", op.getValue(), op.getKey())) ||
      failed(verifyLike(op, "out", op.getOut(), op.getQuery())))
    return failure();
  ArrayRef<int64_t> q = query.getShape();
  if (failed(verifyShape(op, "lse", op.getLse(), {q[0], q[2], q[1]})) ||
      failed(verifyWidth(op)))
    return failure();
  if (failed(verifyDense(op, "lse", op.getLse())))
    return failure();
  AttentionMask mask = AttentionMask::get(op, q[1], key.getDimSize(1));
  if (failed(mask.verify(op, op.getSegments() != Value(), op.getSoftcap())) ||
      failed(verifySegments(op)))
    return failure();
  double scale = op.getScale().convertToDouble();
  if (!std::isfinite(scale))
    return op.emitOpError("expects a finite scale, but got ") << scale;
  if (failed(verifyDropout(op)))
    return failure();
  return verifyBits(op);
}

LogicalResult AttentionOp::verify() { return verifyAttention(*this); }

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttention(*this)) ||
      failed(verifyLike(*this, "grad", getGrad(), getQuery())) ||
      failed(verifyLike(*this, "grad_query", getGradQuery(), getQuery())) ||
      failed(verifyLike(*this, "grad_key", getGradKey(), getKey())))
    return failure();
  return verifyLike(*this, "grad_value", getGradValue(), getValue());
}

//===----------------------------------------------------------------------===//
// EmbeddingOp and EmbeddingGradOp
//===----------------------------------------------------------------------===//

/// `rows` [i..., C] for ids [i...] and a table [V, C].
static LogicalResult verifyRows(Operation *op, Value table, Value ids,
                                StringRef name, Value rows) {
  MemRefType type = getType(table);
  if (type.getRank() != 2)
    return op->emitOpError("expects a table of rank 2, but got ") << type;
  SmallVector<int64_t> shape(getType(ids).getShape());
  shape.push_back(type.getDimSize(1));
  return verifyShape(op, name, rows, shape);
}

LogicalResult EmbeddingOp::verify() {
  if (failed(verifyRows(*this, getTable(), getIds(), "target", getTarget())))
    return failure();
  return verifyElement(*this, "target", getTarget(),
                       getType(getTable()).getElementType());
}

void EmbeddingGradOp::getEffects(Effects &effects) {
  addEffects<Read>(*this, {odsIndex_grad, odsIndex_ids, odsIndex_flag},
                   effects);
  addEffects<Write>(*this, {odsIndex_target, odsIndex_workspace}, effects);
  if (accumulates())
    addEffects<Read>(*this, odsIndex_target, effects);
}

LogicalResult EmbeddingGradOp::verify() {
  if (failed(verifyRows(*this, getTarget(), getIds(), "grad", getGrad())) ||
      failed(verifyAccumulate(*this)))
    return failure();
  return verifyElement(*this, "target", getTarget(),
                       getType(getGrad()).getElementType(), /*orF32=*/true);
}

} // namespace weft::plan
