//===- DescribeSharding.cpp - Shards of ranks in the metadata -------------===//

#include "DescribeSharding.h"

#include "weft/Base/Text.h"
#include "weft/Dist/Dist.h"
#include "weft/Memory/MemoryReport.h"
#include "weft/Plan/Plan.h"
#include "weft/Support/TypeText.h"

using namespace mlir;
using namespace weft;

/// A rank's shard of one flat state; `slot` is "" for the parameters.
static Json describeState(plan::StateOp state) {
  MemRefType type = state.getBufferType();
  Json entry = Json::object();
  entry.set("slot", state.getSlot().value_or("").str());
  entry.set("kind", isGathered(state)
                        ? "gathered"
                        : plan::stringifyStateKind(state.getKind()).str());
  entry.set("dtype", getTypeText(type.getElementType()));
  entry.set("slices", state.getSliceCount());
  entry.set("bytes", plan::getBufferBytes(type));
  return entry;
}

/// A flat parameter with the states that belong to it.
static Json describeBucket(plan::StateOp param) {
  Json states = Json::array();
  states.push(describeState(param));
  for (auto state : param->getParentOfType<ModuleOp>().getOps<plan::StateOp>())
    if (FlatSymbolRefAttr owner = state.getParamAttr();
        owner && owner.getAttr() == param.getSymNameAttr())
      states.push(describeState(state));
  Json bucket = Json::object();
  bucket.set("name", param.getSymName().str());
  bucket.set("elements",
             param.getBufferType().getNumElements() * param.getSliceCount());
  bucket.set("states", std::move(states));
  return bucket;
}

Json weft::describeSharding(ModuleOp module, const FlagValues &flags) {
  if (!dist::findMesh(module))
    return Json();
  Json buckets = Json::array();
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == plan::StateKind::Param && state.isSegmented())
      buckets.push(describeBucket(state));
  Json sharding = Json::object();
  sharding.set("zero", flags.getInt("zero"));
  sharding.set("buckets", std::move(buckets));
  return sharding;
}

std::string weft::spellShare(ModuleOp module, const FlagValues &flags) {
  dist::MeshOp mesh = dist::findMesh(module);
  if (!mesh)
    return "";
  int64_t held = 0, whole = 0, gathered = 0;
  for (auto state : module.getOps<plan::StateOp>()) {
    int64_t bytes = plan::getBufferBytes(state.getBufferType());
    if (isGathered(state)) {
      gathered += bytes;
      continue;
    }
    held += bytes;
    whole += bytes * state.getSliceCount();
  }
  return "each of " + std::to_string(mesh.getNumRanks()) +
         " ranks, ZeRO stage " + flags.getText("zero") + ", keeps " +
         humanBytes(held) + " of " + humanBytes(whole) + " of states" +
         (gathered ? ", and " + humanBytes(gathered) + " gathered in a step"
                   : "") +
         "\n";
}
