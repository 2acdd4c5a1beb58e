//===- FlatStates.cpp - Declarations of flat states -----------------------===//

#include "FlatStates.h"
#include "weft/Dist/Dist.h"

using namespace mlir;
using namespace weft;

/// The segments of a bucket. Only parameters have a source.
static ArrayAttr getSegments(const Bucket &bucket, bool withSource) {
  SmallVector<Attribute> list;
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins)) {
    ParamOp param = member.param;
    RankedTensorType type = param.getTensorType();
    list.push_back(SegmentAttr::get(
        param.getContext(), FlatSymbolRefAttr::get(param.getSymNameAttr()),
        type.getShape(), begin, begin + type.getNumElements(),
        withSource ? param.getSourceAttr() : StringAttr()));
  }
  return ArrayAttr::get(ParamOp(bucket.members.front().param).getContext(),
                        list);
}

static FlatState makeState(const Bucket &bucket, StringAttr name,
                           Type element) {
  return {FlatSymbolRefAttr::get(name),
          RankedTensorType::get({bucket.elements}, element),
          {}};
}

/// "h.0" of "h.0.attn" and "h.0.mlp", or null where there is none.
static StringAttr getScope(const Bucket &bucket) {
  auto getOwn = [](ParamOp param) { return param.getScope().value_or(""); };
  ParamOp first = bucket.members.front().param;
  StringRef common = getOwn(first);
  for (const Member &member : bucket.members)
    common = getCommonScope(common, getOwn(member.param));
  return common.empty() ? StringAttr()
                        : StringAttr::get(first.getContext(), common);
}

/// Whether the members decay, or null if only some do.
static BoolAttr getDecay(const Bucket &bucket) {
  ParamOp first = bucket.members.front().param;
  bool isSame = llvm::all_of(bucket.members, [&](const Member &member) {
    return ParamOp(member.param).decays() == first.decays();
  });
  return first.getTrainable() && isSame
             ? BoolAttr::get(first.getContext(), first.decays())
             : BoolAttr();
}

/// Copies the layout of the segments, if they have one.
static void copyLayout(Operation *part, Operation *whole) {
  if (dist::LayoutAttr layout = dist::getLayout(part))
    whole->setAttr(dist::DistDialect::kLayoutAttr, layout);
}

static FlatState declareParam(const Bucket &bucket, OpBuilder &builder) {
  ParamOp first = bucket.members.front().param;
  Type element = first.getTensorType().getElementType();
  FlatState state =
      makeState(bucket, builder.getStringAttr(bucket.name), element);
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins)) {
    ParamOp param = member.param;
    state.parts.push_back({FlatSymbolRefAttr::get(param.getSymNameAttr()),
                           param.getTensorType(), begin, param.getLoc()});
  }
  builder.setInsertionPoint(first);
  auto whole = ParamOp::create(
      builder, first.getLoc(), state.symbol.getAttr(),
      TypeAttr::get(state.type), InitAttr(), first.getTrainableAttr(),
      getDecay(bucket), FlatSymbolRefAttr(), getScope(bucket), StringAttr(),
      getSegments(bucket, /*withSource=*/true), builder.getI64IntegerAttr(1));
  copyLayout(first, whole);
  return state;
}

/// Declares the flat state for state `number` of every member.
static FlatState declareState(const Bucket &bucket, unsigned number,
                              OpBuilder &builder) {
  const Member &front = bucket.members.front();
  StateOp first = front.states[number];
  StringRef slot = *front.getSlot(first.getSymName());
  FlatState state =
      makeState(bucket, builder.getStringAttr(bucket.name + "." + slot),
                first.getTensorType().getElementType());
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins)) {
    StateOp own = member.states[number];
    state.parts.push_back({FlatSymbolRefAttr::get(own.getSymNameAttr()),
                           own.getTensorType(), begin, own.getLoc()});
  }
  builder.setInsertionPoint(first);
  auto whole = StateOp::create(
      builder, first.getLoc(), state.symbol.getAttr(),
      TypeAttr::get(state.type), first.getKindAttr(),
      FlatSymbolRefAttr::get(builder.getContext(), bucket.name),
      builder.getStringAttr(slot), getSegments(bucket, /*withSource=*/false),
      builder.getI64IntegerAttr(1));
  copyLayout(first, whole);
  return state;
}

std::vector<FlatState> weft::declareFlatStates(const Bucket &bucket) {
  const Member &first = bucket.members.front();
  OpBuilder builder(ParamOp(first.param).getContext());
  std::vector<FlatState> states = {declareParam(bucket, builder)};
  for (unsigned i = 0; i != first.states.size(); ++i)
    states.push_back(declareState(bucket, i, builder));
  for (const Member &member : bucket.members) {
    for (StateOp state : member.states)
      state.erase();
    ParamOp(member.param).erase();
  }
  return states;
}
