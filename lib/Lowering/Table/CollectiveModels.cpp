//===- CollectiveModels.cpp - Records of commands between ranks -----------===//

#include "RoutineModels.h"
#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Dist/Dist.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

using namespace mlir;
using namespace weft;

static_assert(kCollectiveStreams[0] == plan::kGatherStream &&
                  kCollectiveStreams[1] == plan::kReduceStream,
              "the runtime has communicators for both");

/// The group of a command by its number; fails with an error on the command if
/// the module has no such ranks.
template <typename OpT> static FailureOr<WeftRankGroup> getGroup(OpT op) {
  dist::MeshOp mesh = dist::findMesh(op->template getParentOfType<ModuleOp>());
  if (!mesh)
    return op.emitOpError("expects a dist.mesh in the module, but there is "
                          "none");
  StringAttr axis = op.getGroup().empty() ? StringAttr() : op.getGroupAttr();
  int64_t ranks = op.getRanks();
  if ((!axis || mesh.hasAxis(axis)) && mesh.getNumRanks(axis) == ranks) {
    auto axes = mesh.getAxes().getAsRange<StringAttr>();
    int64_t number =
        axis ? 1 + std::distance(axes.begin(), llvm::find(axes, axis)) : 0;
    return WeftRankGroup{
        number, ranks,
        plan::CommandOpInterface(op.getOperation()).getStreamNumber()};
  }
  InFlightDiagnostic error = op.emitOpError("expects ranks of the mesh, but "
                                            "got ");
  error << ranks;
  if (axis)
    error << " along " << axis;
  error.attachNote(mesh.getLoc()) << "the mesh";
  return error;
}

static LogicalResult append(RecordWords &words, plan::AllGatherOp op,
                            WeftRankGroup among) {
  append(words, WeftAllGatherRecord{among, getDType(op.getSlice()),
                                    getCount(op.getSlice())});
  return success();
}

static LogicalResult append(RecordWords &words, plan::ReduceScatterOp op,
                            WeftRankGroup among) {
  append(words, WeftReduceScatterRecord{
                    among, getDType(op.getSlice()), getCount(op.getSlice()),
                    op.getPre().convertToDouble(),
                    op.getPost().convertToDouble(), op.getNative() ? 1 : 0});
  return success();
}

static LogicalResult append(RecordWords &words, plan::OwnSliceOp op,
                            WeftRankGroup among) {
  append(words, WeftOwnSliceRecord{among, getDType(op.getSlice()),
                                   getCount(op.getSlice())});
  return success();
}

static LogicalResult append(RecordWords &words, plan::RankOp,
                            WeftRankGroup among) {
  append(words, WeftRankRecord{among});
  return success();
}

static int64_t getNumber(RankReduction reduction) {
  switch (reduction) {
  case RankReduction::Sum:
    return WEFT_RANK_SUM;
  case RankReduction::Max:
    return WEFT_RANK_MAX;
  case RankReduction::Or:
    return WEFT_RANK_OR;
  }
  llvm_unreachable("all reductions are handled");
}

static LogicalResult append(RecordWords &words, plan::AllReduceOp op,
                            WeftRankGroup among) {
  append(words, WeftAllReduceRecord{among, int64_t(op.getReductions().size())});
  for (int64_t reduction : op.getReductions())
    words.push_back(getNumber(RankReduction(reduction)));
  return success();
}

namespace {
/// The target names the routine and the size of its workspace.
template <typename OpT>
struct CollectiveModel
    : RoutineOpInterface::ExternalModel<CollectiveModel<OpT>, OpT> {
  WeftCommandKind getKind(Operation *) const { return WEFT_EXTENSION; }
  StringRef getRoutine(Operation *) const { return ""; }
  LogicalResult makeRecord(Operation *op, RecordWords &words) const {
    FailureOr<WeftRankGroup> among = getGroup(cast<OpT>(op));
    if (failed(among))
      return failure();
    return append(words, cast<OpT>(op), *among);
  }
};
} // namespace

void weft::attachCollectiveModels(MLIRContext *context) {
  using namespace plan;
  AllGatherOp::attachInterface<CollectiveModel<AllGatherOp>>(*context);
  ReduceScatterOp::attachInterface<CollectiveModel<ReduceScatterOp>>(*context);
  OwnSliceOp::attachInterface<CollectiveModel<OwnSliceOp>>(*context);
  RankOp::attachInterface<CollectiveModel<RankOp>>(*context);
  AllReduceOp::attachInterface<CollectiveModel<AllReduceOp>>(*context);
}
