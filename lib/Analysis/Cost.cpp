//===- Cost.cpp - Estimated time of a command -----------------------------===//

#include "weft/Analysis/Cost.h"

#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Dist/Dist.h"
#include "weft/Layout/AttentionMask.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Support/TypeText.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

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
      gradient && buffer == gradient.getTarget() && gradient.getAdds())
    return rowsOf(buffer, gradient.getGrad());
  return getBytes(buffer);
}

/// Whether a command may clear the buffer, which it otherwise adds to: by a
/// flag, the first micro-batch of a step clears the gradient of a table.
/// Counted for each micro-batch: a program does not say how many a step has.
static bool mayClear(plan::CommandOpInterface command, Value buffer) {
  auto gradient = dyn_cast<plan::EmbeddingGradOp>(*command);
  return gradient && buffer == gradient.getTarget() && gradient.getFlag();
}

int64_t weft::getTrafficBytes(plan::CommandOpInterface command) {
  int64_t bytes = 0;
  for (auto [buffer, isRead, isWritten] : command.getAccesses()) {
    if (plan::isWorkspace(buffer))
      continue;
    const int64_t size = getTouchedBytes(command, buffer);
    const bool isUpdated = isRead && isWritten && !mayClear(command, buffer);
    bytes += isUpdated ? 2 * size : size;
  }
  return bytes;
}

double weft::getFlops(plan::CommandOpInterface command) {
  IntegerAttr flops = command.getFlopsAttr();
  return flops ? static_cast<double>(flops.getInt()) : 0;
}

/// Queries and keys of a call.
template <typename OpT> static WeftAttentionRecord getSizes(OpT op) {
  ArrayRef<int64_t> query =
      cast<MemRefType>(op.getQuery().getType()).getShape();
  ArrayRef<int64_t> key = cast<MemRefType>(op.getKey().getType()).getShape();
  WeftAttentionRecord sizes = {};
  sizes.batch = query[0], sizes.queries = query[1], sizes.heads = query[2];
  sizes.keys = key[1], sizes.keyHeads = key[2], sizes.headSize = query[3];
  return sizes;
}

template <typename OpT> static double countScores(OpT op) {
  const WeftAttentionRecord sizes = getSizes(op);
  const double pairs = AttentionMask::get(op, sizes.queries, sizes.keys)
                           .countPairs(AttentionMask::kCostTile);
  return static_cast<double>(sizes.batch * sizes.heads) * pairs;
}

double weft::getScores(plan::CommandOpInterface command) {
  if (auto op = dyn_cast<plan::AttentionOp>(*command))
    return countScores(op);
  if (auto op = dyn_cast<plan::AttentionGradOp>(*command))
    return countScores(op);
  return 0;
}

CommandWork weft::getWork(plan::CommandOpInterface command) {
  return {getFlops(command), static_cast<double>(getTrafficBytes(command)),
          getScores(command)};
}

/// On CUDA devices one kernel computes the gradient of the queries, and another
/// one the gradients of keys and values. `flops` counts the random numbers of
/// one kernel; the other one draws them again.
static double getRepeatedDrawFlops(plan::CommandOpInterface command) {
  auto gradient = dyn_cast<plan::AttentionGradOp>(*command);
  return gradient && gradient.getRng()
             ? AttentionMask::kDrawFlops * countScores(gradient)
             : 0;
}

double weft::getImbalance(plan::CommandOpInterface command, int64_t threads) {
  int64_t units = 0;
  if (auto op = dyn_cast<plan::AttentionOp>(*command))
    units = AttentionWork(getSizes(op), /*gradient=*/false).units;
  else if (auto op = dyn_cast<plan::AttentionGradOp>(*command))
    units = AttentionWork(getSizes(op), /*gradient=*/true).units;
  if (units == 0 || threads == 0)
    return 1;
  return static_cast<double>((units + threads - 1) / threads * threads) /
         static_cast<double>(units);
}

//===----------------------------------------------------------------------===//
// Rates
//===----------------------------------------------------------------------===//

Rates CostTable::getRates(ArrayRef<StringRef> kinds, Type element) const {
  const std::string type = element ? getTypeText(element) : "";
  Rates rates = base ? base->getRates(kinds, element) : Rates();
  // The special parts come last and win.
  SmallVector<std::string> names = {"", type};
  for (StringRef kind : kinds) {
    names.push_back(kind.str());
    names.push_back(kind.str() + "." + type);
  }
  for (const std::string &name : names) {
    auto part = parts.find(name);
    if (part == parts.end())
      continue;
    const Part &given = part->second;
    rates.gflops = given.gflops.value_or(rates.gflops);
    rates.gigabytesPerSecond =
        given.gigabytesPerSecond.value_or(rates.gigabytesPerSecond);
    rates.overheadUs = given.overheadUs.value_or(rates.overheadUs);
    rates.gigascoresPerSecond =
        given.gigascoresPerSecond.value_or(rates.gigascoresPerSecond);
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
                        const CostTable &table, CostKinds &kinds) {
  if (int64_t bytes = getSentBytes(command))
    return estimateCollective(command, bytes, table);
  const Rates rates =
      table.getRates(kinds.getKinds(command), command.getElementType());
  const double shared = table.cluster ? table.cluster->ranksPerCore : 1;
  CommandWork work = getWork(command);
  if (table.target == "cuda")
    work.flops += getRepeatedDrawFlops(command);
  return {shared * getImbalance(command, table.getThreads()) *
              rates.getTimeUs(work),
          0,
          {}};
}
