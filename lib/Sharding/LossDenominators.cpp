//===- LossDenominators.cpp - Means over the targets of all ranks ---------===//
//
// Of rank r the loss is s_r / d_r, its gradient that of s_r over d_r. With
// D = sum of d_r over W ranks, both are wanted over D / W: then their mean over
// ranks is (sum of s_r) / D.
//
//===----------------------------------------------------------------------===//

#include "LossDenominators.h"

#include "weft/Formats/Names.h"

using namespace mlir;

namespace weft {

/// Targets of a token file are classes: the next token of each.
static bool areTokens(ProgramOp micro, Value targets) {
  auto module = micro->getParentOfType<ModuleOp>();
  auto argument = dyn_cast<BlockArgument>(skipViews(targets));
  if (!argument || !module->hasAttr("weft.vocab") ||
      !module->hasAttr("weft.seq"))
    return false;
  auto name = micro.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                 WeftDialect::kInputAttr);
  return name && name == names::kTargets;
}

/// Whether ranks may count other numbers of targets, or other weights.
static bool countsTargets(ProgramOp micro, CrossEntropyOp op) {
  const int64_t classes =
      cast<RankedTensorType>(op.getLogits().getType()).getShape().back();
  const int64_t ignored = op.getIgnoreIndex();
  const bool ignoresClass = ignored >= 0 && ignored < classes;
  return op.getReduction() == LossReduction::Mean &&
         (op.getWeight() || ignoresClass || !areTokens(micro, op.getTargets()));
}

/// D / W, of the type of d_r.
static Value shareDenominator(OpBuilder &builder, CrossEntropyOp op,
                              const MeshCollectives &mesh) {
  Location loc = op.getLoc();
  auto scalar = RankedTensorType::get({}, builder.getF64Type());
  Value own = CastOp::create(builder, loc, scalar, op.getDenom());
  Value all = mesh.sumOverRanks(builder, loc, own);
  Value ranks = ConstantOp::create(builder, loc,
                                   cast<ElementsAttr>(DenseElementsAttr::get(
                                       scalar, double(mesh.countRanks()))));
  Value share = DivOp::create(builder, loc, all, ranks);
  return CastOp::create(builder, loc, op.getDenom().getType(), share);
}

/// s_r over the share; of a rank that ignores all its targets, whose own mean
/// is no number, 0.
static Value scaleLoss(OpBuilder &builder, CrossEntropyOp op, Value share) {
  Location loc = op.getLoc();
  Value ratio = DivOp::create(builder, loc, op.getDenom(), share);
  Value scaled = MulOp::create(builder, loc, op.getLoss(), ratio);
  Value zero =
      ConstantOp::create(builder, loc,
                         cast<ElementsAttr>(builder.getZeroAttr(
                             cast<ShapedType>(op.getDenom().getType()))));
  Value isEmpty =
      CompareOp::create(builder, loc, Predicate::EQ, op.getDenom(), zero);
  return SelectOp::create(builder, loc, isEmpty, ratio, scaled);
}

static void join(CrossEntropyOp op, const MeshCollectives &mesh) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value share = shareDenominator(builder, op, mesh);
  Value loss = scaleLoss(builder, op, share);
  auto makesLoss = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user->getBlock() == op->getBlock() &&
           loss.getDefiningOp()->isBeforeInBlock(user);
  };
  op.getLoss().replaceUsesWithIf(loss, makesLoss);
  op.getDenom().replaceUsesWithIf(share, [](OpOperand &use) {
    return isa<CrossEntropyGradOp>(use.getOwner());
  });
  for (Operation *made = op->getNextNode(); made != loss.getDefiningOp();
       made = made->getNextNode())
    copyScope(op, made);
  copyScope(op, loss.getDefiningOp());
}

unsigned joinDenominators(ProgramOp micro, const MeshCollectives &mesh) {
  unsigned count = 0;
  for (auto op : micro.getBody().front().getOps<CrossEntropyOp>()) {
    if (!countsTargets(micro, op))
      continue;
    join(op, mesh);
    ++count;
  }
  return count;
}

} // namespace weft
