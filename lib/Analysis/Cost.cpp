//===- Cost.cpp - Estimated time of a command -----------------------------===//

#include "weft/Analysis/Cost.h"

#include "weft/Dist/Dist.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Support/TypeText.h"

using namespace mlir;
using namespace weft;

static int64_t getBytes(Value buffer) {
  return plan::getBufferBytes(cast<MemRefType>(buffer.getType()));
}

/// The bytes of a table that a command touches if it looks rows up or adds to
/// rows: at most one row for each id.
static int64_t getTouchedBytes(plan::CommandOpInterface command, Value buffer) {
  auto rowsOf = [&](Value table, Value rows) {
    auto type = cast<MemRefType>(table.getType());
    return std::min(getBytes(table),
                    cast<MemRefType>(rows.getType()).getNumElements() *
                        int64_t(type.getElementTypeBitWidth() / 8));
  };
  if (auto lookup = dyn_cast<plan::EmbeddingOp>(*command);
      lookup && buffer == lookup.getTable())
    return rowsOf(buffer, lookup.getTarget());
  if (auto gradient = dyn_cast<plan::EmbeddingGradOp>(*command);
      gradient && buffer == gradient.getTarget() && gradient.accumulates())
    return rowsOf(buffer, gradient.getGrad());
  return getBytes(buffer);
}

int64_t weft::getTrafficBytes(plan::CommandOpInterface command) {
  int64_t bytes = 0;
  for (auto [buffer, isRead, isWritten] : command.getAccesses()) {
    if (plan::isWorkspace(buffer))
      continue;
    const int64_t size = getTouchedBytes(command, buffer);
    bytes += isRead && isWritten ? 2 * size : size;
  }
  return bytes;
}

double weft::getFlops(plan::CommandOpInterface command) {
  IntegerAttr flops = command.getFlopsAttr();
  return flops ? static_cast<double>(flops.getInt()) : 0;
}

Rates CostTable::getRates(StringRef kind, Type element) const {
  std::string type = element ? getTypeText(element) : "";
  std::string both = kind.str() + "." + type;
  Rates rates = base ? base->getRates(kind, element) : Rates();
  // The special parts come last and win.
  for (StringRef name : {StringRef(), StringRef(type), kind, StringRef(both)}) {
    auto part = parts.find(name);
    if (part == parts.end())
      continue;
    const Part &given = part->second;
    rates.gflops = given.gflops.value_or(rates.gflops);
    rates.gigabytesPerSecond =
        given.gigabytesPerSecond.value_or(rates.gigabytesPerSecond);
    rates.overheadUs = given.overheadUs.value_or(rates.overheadUs);
  }
  return rates;
}

LinkRates CostTable::getLink(StringRef kind, StringRef axis) const {
  LinkRates rates = base ? base->getLink(kind, axis) : LinkRates();
  auto take = [&](const LinkPart &part) {
    rates.gigabytesPerSecond =
        part.gigabytesPerSecond.value_or(rates.gigabytesPerSecond);
    rates.latencyUs = part.latencyUs.value_or(rates.latencyUs);
  };
  take(links.lookup(""));
  const Part ofKind = parts.lookup(kind);
  take({ofKind.gigabytesPerSecond, ofKind.overheadUs});
  if (!axis.empty())
    take(links.lookup(axis));
  return rates;
}

Overlap weft::getOverlap(ModuleOp module) {
  auto speeds = module->getAttrOfType<DictionaryAttr>(kSpeedsAttr);
  auto read = [&](StringRef key) {
    auto number = speeds ? speeds.getAs<FloatAttr>(key) : FloatAttr();
    return number ? number.getValueAsDouble() : 0;
  };
  Overlap overlap{read(kSlowsComputeKey), read(kBesideKey), read(kBeginKey)};
  if (speeds && speeds.contains(kSlowsAcrossKey))
    overlap.slowsComputeAcross = read(kSlowsAcrossKey);
  return overlap;
}

int64_t weft::getSentBytes(plan::CommandOpInterface command) {
  if (!isa<plan::AllGatherOp, plan::ReduceScatterOp, plan::AllReduceOp>(
          *command))
    return 0;
  const int64_t others =
      command->getAttrOfType<IntegerAttr>("ranks").getInt() - 1;
  auto bytesOf = [&](unsigned operand) {
    return plan::getBufferBytes(
        cast<MemRefType>(command->getOperand(operand).getType()));
  };
  if (isa<plan::AllGatherOp>(*command))
    return others * bytesOf(0);
  if (isa<plan::ReduceScatterOp>(*command))
    return others * bytesOf(1);
  // All numbers travel as f64.
  return others * 8 * (static_cast<int64_t>(command->getNumOperands()) / 2);
}

/// The axis along which the ranks of a collective differ: the only one of a
/// mesh has no name in a plan.
static StringRef getAxis(plan::CommandOpInterface command) {
  if (auto group = command->getAttrOfType<StringAttr>("group");
      group && !group.empty())
    return group;
  dist::MeshOp mesh = dist::findMesh(command->getParentOfType<ModuleOp>());
  if (!mesh || mesh.getAxes().size() != 1)
    return {};
  return cast<StringAttr>(mesh.getAxes()[0]).getValue();
}

int64_t weft::countRanks(ModuleOp module) {
  dist::MeshOp mesh = dist::findMesh(module);
  return mesh ? mesh.getNumRanks() : 1;
}

/// Of a mesh with several axes the last one is the fastest.
RankGroup weft::getRankGroup(plan::CommandOpInterface collective) {
  RankGroup group;
  group.ranks = collective->getAttrOfType<IntegerAttr>("ranks").getInt();
  group.world = group.ranks;
  dist::MeshOp mesh = dist::findMesh(collective->getParentOfType<ModuleOp>());
  if (!mesh)
    return group;
  auto along = collective->getAttrOfType<StringAttr>("group");
  bool isBehind = false;
  group.world = 1;
  for (auto [axis, size] : llvm::zip(mesh.getAxes(), mesh.getSizes())) {
    group.world *= size;
    if (isBehind)
      group.stride *= size;
    isBehind |= along && axis == along;
  }
  return group;
}

static Estimate estimateLinks(plan::CommandOpInterface command,
                              const MachineCluster &cluster, int64_t bytes) {
  const RankGroup group = getRankGroup(command);
  const auto each = static_cast<double>(bytes) /
                    static_cast<double>(std::max<int64_t>(group.ranks - 1, 1));
  const CollectiveTime time = isa<plan::AllReduceOp>(*command)
                                  ? cluster.estimateAllReduce(group, each)
                                  : cluster.estimateGather(group, each);
  return {time.latencyUs + time.linkUs, time.linkUs,
          cluster.countNodes(group) == 1 ? kNodeLink : kNetworkLink};
}

/// Ranks that share a core also send one after the other.
static Estimate estimateCollective(plan::CommandOpInterface command,
                                   int64_t bytes, const CostTable &table) {
  if (table.cluster && table.cluster->node)
    return estimateLinks(command, *table.cluster, bytes);
  LinkRates rates = table.getLink(command.getCommandKind(), getAxis(command));
  const double shared = table.cluster ? table.cluster->ranksPerCore : 1;
  const double link =
      shared * static_cast<double>(bytes) / (rates.gigabytesPerSecond * 1e3);
  return {shared * rates.latencyUs + link, link, {}};
}

Estimate weft::estimate(plan::CommandOpInterface command,
                        const CostTable &table) {
  if (int64_t bytes = getSentBytes(command))
    return estimateCollective(command, bytes, table);
  Rates rates =
      table.getRates(command.getCommandKind(), command.getElementType());
  const auto bytes = static_cast<double>(getTrafficBytes(command));
  const double shared = table.cluster ? table.cluster->ranksPerCore : 1;
  return {shared * rates.getTimeUs(getFlops(command), bytes), 0, {}};
}
