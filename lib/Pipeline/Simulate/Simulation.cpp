//===- Simulation.cpp - Estimated time of a step on a mesh ----------------===//

#include "weft/Pipeline/Simulate/Simulation.h"

#include "weft/Analysis/Cost.h"
#include "weft/Memory/MemoryReport.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Schedule/ClusterFile.h"
#include "weft/Sharding/MeshSyntax.h"
#include "weft/Verify/VerifyExecutable.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

double Outlook::getTokensPerSecond() const {
  return step.us > 0 ? static_cast<double>(tokens) / step.us * 1e6 : 0;
}

double Outlook::getHiddenPart() const {
  if (step.collectivesUs <= 0)
    return 1;
  return std::max(0.0, 1 - step.exposedUs / step.collectivesUs);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static std::string makeHybrid(int64_t replicas, int64_t shards) {
  return "replica:" + std::to_string(replicas) +
         ",shard:" + std::to_string(shards);
}

static std::string makeFlat(int64_t ranks) {
  return "dp:" + std::to_string(ranks);
}

/// Meshes with half and twice the ranks, and other meshes of the same ranks:
/// another ratio of replicas and shards (from one flat axis, shards within a
/// node), or one flat axis.
static std::vector<std::string> listMeshes(const MeshText &mesh,
                                           int64_t ranksPerNode) {
  std::vector<std::string> meshes;
  auto halves = [](int64_t size) { return size > 1 && size % 2 == 0; };
  if (mesh.size() == 1) {
    const int64_t ranks = mesh[0].size;
    if (halves(ranks))
      meshes.push_back(makeFlat(ranks / 2));
    meshes.push_back(makeFlat(ranks * 2));
    if (ranksPerNode > 1 && ranks > ranksPerNode && ranks % ranksPerNode == 0)
      meshes.push_back(makeHybrid(ranks / ranksPerNode, ranksPerNode));
    return meshes;
  }
  const int64_t replicas = mesh[0].size, shards = mesh[1].size;
  if (halves(replicas)) {
    meshes.push_back(makeHybrid(replicas / 2, shards));
    meshes.push_back(makeHybrid(replicas / 2, shards * 2));
  }
  meshes.push_back(makeHybrid(replicas * 2, shards));
  if (halves(shards))
    meshes.push_back(makeHybrid(replicas * 2, shards / 2));
  meshes.push_back(makeFlat(replicas * shards));
  return meshes;
}

/// The layout of the flags first, then its neighbours.
static std::vector<Outlook> listLayouts(const FlagValues &flags,
                                        int64_t ranksPerNode) {
  const std::string text = flags.getText("mesh"), zero = flags.getText("zero");
  std::vector<Outlook> layouts = {{text, zero}};
  const std::optional<MeshText> mesh = parseMesh(text);
  if (!mesh)
    return layouts;
  for (const char *other : {"0", "1", "2", "3"})
    if (zero != other)
      layouts.push_back({text, other});
  for (const std::string &other : listMeshes(*mesh, ranksPerNode))
    if (parseMesh(other)) // not more ranks than there may be
      layouts.push_back({other, zero});
  return layouts;
}

//===----------------------------------------------------------------------===//
// One of them
//===----------------------------------------------------------------------===//

/// Tokens of a rank in a step, or 0.
static int64_t countTokens(ModuleOp module) {
  auto seq = module->getAttrOfType<IntegerAttr>("weft.seq");
  return seq ? getBatchRows(module) * seq.getInt() : 0;
}

static Status describe(Compiler &compiler, Outlook &outlook) {
  ModuleOp module = compiler.module();
  outlook.ranks = meshRanks(compiler.flags());
  outlook.tokens = outlook.ranks * countTokens(module);
  FailureOr<StepEstimate> step = estimateStep(module);
  if (failed(step))
    return compiler.takeError("the timeline");
  outlook.step = *step;
  outlook.hasGivenRates = module->hasAttr(kSpeedsAttr);
  for (const ReservedMemory &each :
       compiler.target().getReserved(compiler.module(), compiler.flags()))
    outlook.reservedBytes += each.bytes;
  outlook.peakBytes = computeMemoryReport(module).getDeviceBytes();
  return Status::success();
}

/// Compiles another layout. Warnings and remarks of the first compilation are
/// not repeated.
static Status compileOther(Compiler &compiler, const FlagValues &flags,
                           Outlook &outlook) {
  // A layout may have to fit a limit, by trials of its own.
  const FlagValues given =
      flags.with("mesh", outlook.mesh).with("zero", outlook.zero);
  if (Status status = compiler.tryFlags(
          given, [&](int to) { return runWithinMemory(compiler, to); });
      !status)
    return status;
  outlook.chosen = listChosen(given, compiler.flags());
  return describe(compiler, outlook);
}

/// The error of a program that does not fit has a memory report after its first
/// line.
static std::string firstLine(const std::string &text) {
  return text.substr(0, text.find('\n'));
}

static Expected<int64_t> readRanksPerNode(Compiler &compiler,
                                          const FlagValues &flags) {
  if (!flags.isSet("cluster"))
    return 1;
  FailureOr<ClusterFile> file = readClusterFile(compiler.module().getContext(),
                                                flags.getString("cluster"));
  if (failed(file))
    return compiler.takeError("the cluster");
  return file->cluster.ranksPerNode;
}

Expected<std::vector<Outlook>> weft::simulateLayouts(Compiler &compiler) {
  const FlagValues flags = compiler.flags();
  auto ranksPerNode = readRanksPerNode(compiler, flags);
  if (!ranksPerNode)
    return ranksPerNode.takeError();
  std::vector<Outlook> outlooks = listLayouts(flags, *ranksPerNode);
  if (Status status =
          runWithinMemory(compiler, compiler.phases().find(Phase::PlanMemory));
      !status)
    return status.takeError();
  outlooks.front().chosen = listChosen(flags, compiler.flags());
  if (Status status = describe(compiler, outlooks.front()); !status)
    return status.takeError();
  for (Outlook &outlook : MutableArrayRef(outlooks).drop_front())
    if (Status status = compileOther(compiler, flags, outlook); !status)
      outlook.problem = firstLine(status.error().message());
  return outlooks;
}
