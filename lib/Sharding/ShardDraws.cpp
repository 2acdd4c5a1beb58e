//===- ShardDraws.cpp - Initial values of a shard alone -------------------===//

#include "Partition.h"

using namespace mlir;
using namespace weft;

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

/// Of an op that is no view.
static bool addOp(FlatDraws &draws, Operation *op, int64_t begin) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return addConstant(draws, constant, begin);
  const int64_t end = begin + getSize(op->getResult(0));
  auto makeInit = [&](InitKind kind, APFloat first, APFloat second) {
    return InitAttr::get(op->getContext(), kind, first, second);
  };
  if (auto normal = dyn_cast<RandomNormalOp>(op))
    return addDraw(
        draws, normal.getSeed(), normal.getKey(),
        makeInit(InitKind::Normal, normal.getMean(), normal.getStd()), begin,
        end);
  if (auto uniform = dyn_cast<RandomUniformOp>(op))
    return addDraw(
        draws, uniform.getSeed(), uniform.getKey(),
        makeInit(InitKind::Uniform, uniform.getLow(), uniform.getHigh()), begin,
        end);
  return false;
}

std::optional<FlatDraws> weft::findDraws(Value full) {
  FlatDraws draws;
  SmallVector<std::pair<Value, int64_t>> open = {{full, 0}};
  while (!open.empty()) {
    auto [value, begin] = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
      open.push_back({reshape.getOperand(), begin});
    } else if (auto concat = dyn_cast_or_null<ConcatOp>(op);
               concat && concat.getType().getRank() == 1) {
      int64_t end = begin + getSize(value);
      for (Value part : llvm::reverse(concat.getInputs()))
        open.push_back({part, end -= getSize(part)});
    } else if (!op || !addOp(draws, op, begin)) {
      return std::nullopt;
    }
  }
  if (!draws.seed)
    return std::nullopt;
  return draws;
}
