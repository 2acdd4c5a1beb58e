//===- Partition.cpp - Make collectives explicit --------------------------===//

#include "Partition.h"
#include "PartitionApply.h"

#include "weft/Sharding/Passes.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Dist/Dist.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/Builders.h"

namespace weft {
#define GEN_PASS_DEF_PARTITIONPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PartitionPass : weft::impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    dist::MeshOp mesh = dist::findMesh(getOperation());
    if (!mesh)
      return;
    if (failed(verifyLayouts()) ||
        failed(verifyReshard(getOperation(), getReshard())))
      return signalPassFailure();
    FailureOr<ShardedStates> states = declareShards(getOperation(), mesh);
    if (failed(states))
      return signalPassFailure();
    numSlices += states->sharded.size();
    FailureOr<ProgramOp> micro =
        findOnlyProgram(getOperation(), ProgramKind::Micro);
    FailureOr<ProgramOp> denominators =
        findOnlyProgram(getOperation(), ProgramKind::Denominators);
    if (failed(micro) || failed(denominators))
      return signalPassFailure();
    if (*micro)
      makeForms(*micro, *states);
    if (*denominators && accumulates)
      keepDenominators(*denominators);
    FailureOr<TravelTypes> types = readTypes();
    if (failed(types))
      return signalPassFailure();
    const MeshCollectives collectives(mesh, *types);
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(partition(program, collectives, *states)))
        return signalPassFailure();
    eraseCopies(getOperation(), *states);
  }

  /// Programs for the micro-steps of a step, if it may have several.
  void makeForms(ProgramOp micro, ShardedStates &states) {
    if (!reshard)
      declareKept(getOperation(), micro, states, accumulates);
    if (!accumulates)
      return;
    if (sync == Sync::Last)
      declareAccumulators(micro, states);
    if (!states.kept.empty())
      makeLaterForms(micro);
  }

  LogicalResult partition(ProgramOp program, const MeshCollectives &mesh,
                          const ShardedStates &states) {
    if (program.getKind() == ProgramKind::Denominators &&
        program.getSymName() != names::kDenominatorsKeep)
      numLosses += joinDenominators(program, mesh);
    if (program.getKind() != ProgramKind::Apply) {
      partitionStates(program, mesh, states, /*known=*/Shards(), getReshard());
      if (program.getKind() == ProgramKind::Init)
        orderByWrites(program);
      return success();
    }
    ApplyPartition apply(program, mesh);
    if (failed(apply.reduce()))
      return failure();
    partitionStates(program, mesh, states, apply.getShards(), getReshard());
    apply.gather();
    numBuckets += apply.countBuckets();
    return success();
  }

  /// A float type of at most 32 bits; null for "auto".
  FailureOr<Type> readType(StringRef option, StringRef name) {
    if (name == "auto")
      return Type();
    if (name == "f32")
      return Type(Float32Type::get(&getContext()));
    if (name == "f16")
      return Type(Float16Type::get(&getContext()));
    if (name == "bf16")
      return Type(BFloat16Type::get(&getContext()));
    return getOperation().emitError("expects ")
           << option << " auto, f32, f16 or bf16, but got " << name;
  }

  FailureOr<TravelTypes> readTypes() {
    FailureOr<Type> reduced = readType("reduce-dtype", reduceDtype);
    FailureOr<Type> gathered = readType("gather-dtype", gatherDtype);
    if (failed(reduced) || failed(gathered))
      return failure();
    return TravelTypes{*reduced, *gathered};
  }

  Reshard getReshard() {
    return {reshard, ArrayRef<std::string>(reshardScopes)};
  }

  LogicalResult verifyLayouts() {
    for (Operation &op : *getOperation().getBody()) {
      if (!isa<ParamOp, StateOp>(op))
        continue;
      dist::LayoutAttr layout = dist::getLayout(&op);
      if (!layout)
        return op.emitOpError("expects a dist.layout (weft-shard), but got "
                              "none");
    }
    return success();
  }
};
} // namespace
