//===- MeshCollectives.cpp - Collectives between ranks --------------------===//

#include "MeshCollectives.h"

#include "weft/Abi/RankDivisors.h"
#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

MeshCollectives::MeshCollectives(dist::MeshOp mesh, TravelTypes types)
    : name(FlatSymbolRefAttr::get(mesh)), types(types),
      shards(mesh.getSizes().back()) {
  if (mesh.getAxes().size() == 1)
    return;
  replicaAxis = cast<StringAttr>(mesh.getAxes()[0]);
  shardAxis = cast<StringAttr>(mesh.getAxes()[1]);
  replicas = mesh.getSizes().front();
}

static RankedTensorType getPart(Type full, int64_t parts) {
  auto type = cast<RankedTensorType>(full);
  return RankedTensorType::get({type.getNumElements() / parts},
                               type.getElementType());
}

RankedTensorType MeshCollectives::getShardType(Type full) const {
  return getPart(full, shards);
}

Value MeshCollectives::reduceAlong(OpBuilder &builder, Location loc, Value full,
                                   int64_t ranks, StringAttr axis) const {
  const double pre = choosePreDivide(ranks);
  return dist::ReduceScatterOp::create(
      builder, loc, getPart(full.getType(), ranks), full,
      builder.getF64FloatAttr(pre),
      builder.getF64FloatAttr(double(ranks) / pre), name, axis);
}

dist::AllGatherOp MeshCollectives::gatherAlong(OpBuilder &builder, Location loc,
                                               Value shard, int64_t ranks,
                                               StringAttr axis) const {
  auto type = cast<RankedTensorType>(shard.getType());
  auto full = RankedTensorType::get({type.getNumElements() * ranks},
                                    type.getElementType());
  return dist::AllGatherOp::create(builder, loc, full, shard, name, axis);
}

static Value castTo(OpBuilder &builder, Location loc, Value value,
                    Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!element || type.getElementType() == element)
    return value;
  return CastOp::create(builder, loc, type.clone(element), value);
}

/// Replicas divide the shard between them, so that each number is added once.
Value MeshCollectives::reduceMean(OpBuilder &builder, Location loc,
                                  Value full) const {
  Value sent = castTo(builder, loc, full, types.reduced);
  Value shard = reduceAlong(builder, loc, sent, shards, shardAxis);
  if (replicaAxis) {
    Value part = reduceAlong(builder, loc, shard, replicas, replicaAxis);
    shard = gatherAlong(builder, loc, part, replicas, replicaAxis);
  }
  return castTo(builder, loc, shard, getElementTypeOrSelf(full));
}

Value MeshCollectives::gatherParam(OpBuilder &builder, Location loc,
                                   Value shard, bool rounds,
                                   StringAttr scope) const {
  Type own = getElementTypeOrSelf(shard);
  const bool isWider =
      rounds && types.gathered &&
      own.getIntOrFloatBitWidth() > types.gathered.getIntOrFloatBitWidth();
  Value sent = isWider ? castTo(builder, loc, shard, types.gathered) : shard;
  Value full = gather(builder, loc, sent);
  Value whole = castTo(builder, loc, full, own);
  for (Value made : {sent, full, whole})
    if (made != shard && scope)
      setScope(made.getDefiningOp(), scope);
  return whole;
}

dist::AllGatherOp MeshCollectives::gather(OpBuilder &builder, Location loc,
                                          Value shard) const {
  return gatherAlong(builder, loc, shard, shards, shardAxis);
}

dist::OwnSliceOp MeshCollectives::takeOwn(OpBuilder &builder, Location loc,
                                          Value full) const {
  return dist::OwnSliceOp::create(builder, loc, getShardType(full.getType()),
                                  full, name, shardAxis);
}

dist::RankOp MeshCollectives::getShardNumber(OpBuilder &builder,
                                             Location loc) const {
  return dist::RankOp::create(builder, loc,
                              RankedTensorType::get({}, builder.getI64Type()),
                              name, shardAxis);
}

/// One message with numbers of all ranks of an axis. A null axis means all
/// ranks of the mesh.
static ValueRange reduceAll(OpBuilder &builder, Location loc,
                            ValueRange numbers, RankReduction reduction,
                            FlatSymbolRefAttr mesh, StringAttr axis) {
  SmallVector<int64_t> how(numbers.size(), static_cast<int64_t>(reduction));
  return dist::AllReduceOp::create(builder, loc, TypeRange(numbers), numbers,
                                   builder.getDenseI64ArrayAttr(how), mesh,
                                   axis)
      .getReduced();
}

ValueRange MeshCollectives::sumOverRanks(OpBuilder &builder, Location loc,
                                         ValueRange numbers) const {
  return reduceAll(builder, loc, numbers, RankReduction::Sum, name,
                   /*axis=*/StringAttr());
}

SmallVector<Value> MeshCollectives::askReplicas(OpBuilder &builder,
                                                Location loc,
                                                ValueRange flags) const {
  if (!replicaAxis)
    return flags;
  return reduceAll(builder, loc, flags, RankReduction::Or, name, replicaAxis);
}

dist::AllReduceOp MeshCollectives::join(OpBuilder &builder, Location loc,
                                        ValueRange numbers,
                                        ArrayRef<int64_t> reductions) const {
  return dist::AllReduceOp::create(builder, loc, TypeRange(numbers), numbers,
                                   builder.getDenseI64ArrayAttr(reductions),
                                   name, shardAxis);
}
