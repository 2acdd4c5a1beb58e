//===- Fuse.cpp - Outline chains of primitive ops as kernels --------------===//

#include "Fusion.h"
#include "weft/Analysis/CommandNames.h"
#include "weft/Fusion/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/Threading.h"

namespace weft {
#define GEN_PASS_DEF_FUSEPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// Emits one remark per kernel with its ops and its number of calls.
static void describeKernels(ModuleOp module) {
  llvm::MapVector<StringRef, unsigned> calls;
  module.walk([&](CallOp call) { ++calls[call.getKernel()]; });
  for (auto kernel : module.getOps<KernelOp>()) {
    llvm::MapVector<StringRef, unsigned> names;
    for (Operation &op : kernel.getBody().front().without_terminator())
      ++names[op.getName().stripDialect()];
    std::string text;
    llvm::raw_string_ostream os(text);
    os << getKernelName(kernel) << ", @" << kernel.getSymName()
       << ", computes ";
    llvm::interleaveComma(names, os, [&](auto &entry) {
      os << entry.first;
      if (entry.second > 1)
        os << " x" << entry.second;
    });
    os << "; calls: " << calls.lookup(kernel.getSymName());
    remark::analysis(kernel.getLoc(),
                     remark::RemarkOpts::name("kernel").category("fusion"))
        << text;
  }
}

/// The clusters of one program.
struct Clusters {
  std::unique_ptr<ClusterBuilder> builder;
  Formulas formulas;
  bool isGood = false;
};

struct FusePass : weft::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<WeftDialect>();
  }

  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<ProgramOp>());
    std::vector<Clusters> made(programs.size());
    // Programs are clustered independently of each other.
    parallelFor(&getContext(), 0, programs.size(), [&](size_t i) {
      made[i].isGood = succeeded(buildClusters(programs[i], made[i]));
    });
    if (!llvm::all_of(made, [](const Clusters &each) { return each.isGood; }))
      return signalPassFailure();
    KernelPool pool(getOperation());
    for (auto [program, clusters] : llvm::zip_equal(programs, made)) {
      if (failed(outline(program, clusters, pool)))
        return signalPassFailure();
    }
    if (getContext().getRemarkEngine())
      describeKernels(getOperation());
    numKernels += pool.kernels;
    numCalls += pool.calls;
    numOps += pool.ops;
  }

  LogicalResult buildClusters(ProgramOp program, Clusters &clusters) const {
    FailureOr<Formulas> formulas = takeFormulas(program);
    if (failed(formulas))
      return failure();
    clusters.formulas = std::move(*formulas);
    Block &block = program.getBody().front();
    eraseDeadOps(block);
    clusters.builder = std::make_unique<ClusterBuilder>(
        block,
        FusionLimits{maxOps, maxBuffers, apart, widenInReaders, sumsInRows},
        clusters.formulas);
    if (failed(clusters.builder->run()))
      return failure();
    clusters.builder->reportApart();
    clusters.formulas.names = findNames(block, clusters.formulas.names);
    return success();
  }

  /// Drops the entries of erased ops: a new op may reuse such an address.
  static FormulaNames findNames(Block &block, const FormulaNames &names) {
    FormulaNames found;
    for (Operation &op : block)
      if (auto name = names.find(&op); name != names.end())
        found.insert(*name);
    return found;
  }

  LogicalResult outline(ProgramOp program, Clusters &clusters,
                        KernelPool &pool) {
    const ClusterBuilder &builder = *clusters.builder;
    FormulaNames &names = clusters.formulas.names;
    pool.names = &names;
    numMissed += builder.getNumMissed();
    numMerged += builder.getNumMerged();
    for (const std::unique_ptr<Cluster> &cluster : builder.getClusters()) {
      if (cluster->ops.empty())
        continue;
      std::optional<int64_t> update = builder.getRepeated(*cluster);
      SmallVector<Operation *> ops = cluster->ops;
      FailureOr<SmallVector<CallOp>> calls = outlineCluster(*cluster, pool);
      for (Operation *op : ops)
        names.erase(op);
      if (failed(calls))
        return failure();
      if (update)
        llvm::append_range(clusters.formulas.repeated.at(*update).calls,
                           *calls);
    }
    for (auto &[number, update] : llvm::reverse(clusters.formulas.repeated)) {
      remark::passed(update.repeats.front().getLoc(),
                     remark::RemarkOpts::name("repeated").category("fusion"))
          << remark::add("this update, one of {0} that differ from another "
                         "only in their tensors, calls its kernels",
                         update.repeats.size());
      numRepeated += update.repeats.size();
      pool.calls += callForRepeats(update);
    }
    eraseDeadOps(program.getBody().front());
    return success();
  }
};

} // namespace
