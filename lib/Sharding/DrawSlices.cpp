//===- DrawSlices.cpp - Initial values of a slice alone -------------------===//

#include "DrawSlices.h"

using namespace mlir;

namespace weft {

static int64_t getSize(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// One seed is for all draws.
static bool addDraw(FlatDraws &draws, Value seed, StringRef key, InitAttr init,
                    int64_t begin, int64_t end) {
  if (seed && draws.seed && draws.seed != seed)
    return false;
  if (seed)
    draws.seed = seed;
  MLIRContext *context = init.getContext();
  draws.draws.push_back(
      DrawAttr::get(context, StringAttr::get(context, key), init, begin, end));
  return true;
}

/// Gaps between parameters are zeros: nothing says so.
static bool addConstant(FlatDraws &draws, ConstantOp op, int64_t begin) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return false;
  APFloat number = splat.getSplatValue<APFloat>();
  if (number.isZero())
    return !number.isNegative(); // its sign would be lost
  double value = number.convertToDouble();
  return addDraw(draws, /*seed=*/Value(), /*key=*/"",
                 InitAttr::get(op.getContext(), InitKind::Constant, value),
                 begin, begin + getSize(op));
}

static bool addValue(FlatDraws &draws, Value value, int64_t begin) {
  Operation *op = value.getDefiningOp();
  const int64_t end = begin + getSize(value);
  auto makeInit = [&](InitKind kind, APFloat first, APFloat second) {
    return InitAttr::get(value.getContext(), kind, first, second);
  };
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    return addValue(draws, reshape.getOperand(), begin);
  if (auto concat = dyn_cast_or_null<ConcatOp>(op))
    return concat.getType().getRank() == 1 &&
           llvm::all_of(concat.getInputs(), [&](Value part) {
             int64_t at = begin;
             begin += getSize(part);
             return addValue(draws, part, at);
           });
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return addConstant(draws, constant, begin);
  if (auto normal = dyn_cast_or_null<RandomNormalOp>(op))
    return addDraw(
        draws, normal.getSeed(), normal.getKey(),
        makeInit(InitKind::Normal, normal.getMean(), normal.getStd()), begin,
        end);
  if (auto uniform = dyn_cast_or_null<RandomUniformOp>(op))
    return addDraw(
        draws, uniform.getSeed(), uniform.getKey(),
        makeInit(InitKind::Uniform, uniform.getLow(), uniform.getHigh()), begin,
        end);
  return false;
}

std::optional<FlatDraws> findDraws(Value full) {
  FlatDraws draws;
  if (!addValue(draws, full, 0) || !draws.seed)
    return std::nullopt;
  return draws;
}

} // namespace weft
