//===- LowerCollectives.cpp - The commands of collectives -----------------===//

#include "weft/Dist/Dist.h"
#include "weft/Lowering/Plan/Passes.h"
#include "weft/Plan/PlanCollectives.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace weft;

/// How many ranks take part in a collective, and along which axis they differ.
template <typename OpT> static std::pair<int64_t, StringAttr> getGroup(OpT op) {
  auto mesh =
      SymbolTable::lookupNearestSymbolFrom<dist::MeshOp>(op, op.getMeshAttr());
  StringAttr axis = op.getAxisAttr();
  return {mesh.getNumRanks(axis),
          axis ? axis : StringAttr::get(op.getContext(), "")};
}

static Operation *makeCommand(dist::AllGatherOp op, OpBuilder &builder,
                              ValueRange operands, ValueRange results) {
  auto [ranks, group] = getGroup(op);
  return plan::AllGatherOp::create(builder, op.getLoc(), operands[0],
                                   results[0], ranks, group, {}, {}, {}, {});
}

static Operation *makeCommand(dist::ReduceScatterOp op, OpBuilder &builder,
                              ValueRange operands, ValueRange results) {
  auto [ranks, group] = getGroup(op);
  return plan::ReduceScatterOp::create(
      builder, op.getLoc(), operands[0], results[0], /*workspace=*/Value(),
      op.getPre(), op.getPost(), /*native=*/false, ranks, group, {}, {}, {},
      {});
}

static Operation *makeCommand(dist::OwnSliceOp op, OpBuilder &builder,
                              ValueRange operands, ValueRange results) {
  auto [ranks, group] = getGroup(op);
  return plan::OwnSliceOp::create(builder, op.getLoc(), operands[0], results[0],
                                  ranks, group, {}, {}, {}, {});
}

static Operation *makeCommand(dist::RankOp op, OpBuilder &builder,
                              ValueRange /*operands*/, ValueRange results) {
  auto [ranks, group] = getGroup(op);
  return plan::RankOp::create(builder, op.getLoc(), results[0], ranks, group,
                              {}, {}, {}, {});
}

static Operation *makeCommand(dist::AllReduceOp op, OpBuilder &builder,
                              ValueRange operands, ValueRange results) {
  auto [ranks, group] = getGroup(op);
  return plan::AllReduceOp::create(builder, op.getLoc(), operands, results,
                                   /*workspace=*/Value(),
                                   op.getReductionsAttr(), ranks, group, {}, {},
                                   {}, {});
}

namespace {
/// The command of the same name, which takes any type that the op has.
template <typename OpT>
struct CollectiveModel
    : CommandSourceOpInterface::ExternalModel<CollectiveModel<OpT>, OpT> {
  bool takesElement(Operation *, Type) const { return true; }
  Operation *buildCommand(Operation *op, OpBuilder &builder,
                          ValueRange operands, ValueRange results) const {
    return makeCommand(cast<OpT>(op), builder, operands, results);
  }
};
} // namespace

void weft::registerCollectiveCommands(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, dist::DistDialect *) {
    using namespace dist;
    AllGatherOp::attachInterface<CollectiveModel<AllGatherOp>>(*context);
    ReduceScatterOp::attachInterface<CollectiveModel<ReduceScatterOp>>(
        *context);
    OwnSliceOp::attachInterface<CollectiveModel<OwnSliceOp>>(*context);
    RankOp::attachInterface<CollectiveModel<RankOp>>(*context);
    AllReduceOp::attachInterface<CollectiveModel<AllReduceOp>>(*context);
  });
}
