//===- Fuse.cpp - Outline chains of primitive ops as kernels --------------===//

#include "Fusion.h"
#include "weft/Analysis/CommandNames.h"
#include "weft/Kernels/Passes.h"

namespace weft {
#define GEN_PASS_DEF_FUSEPASS
#include "weft/Kernels/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// One remark per kernel: what it computes and how often it runs.
static void describeKernels(ModuleOp module) {
  llvm::MapVector<StringRef, unsigned> calls;
  module.walk([&](CallOp call) { ++calls[call.getKernel()]; });
  for (auto kernel : module.getOps<KernelOp>()) {
    InFlightDiagnostic remark = kernel.emitRemark(getKernelName(kernel));
    remark << ", @" << kernel.getSymName() << ", computes ";
    llvm::MapVector<StringRef, unsigned> names;
    for (Operation &op : kernel.getBody().front().without_terminator())
      ++names[op.getName().stripDialect()];
    llvm::interleaveComma(names, remark, [&](auto &entry) {
      remark << entry.first;
      if (entry.second > 1)
        remark << " x" << entry.second;
    });
    remark << "; calls: " << calls.lookup(kernel.getSymName());
  }
}

struct FusePass : weft::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<WeftDialect>();
  }

  void runOnOperation() override {
    KernelPool pool(getOperation());
    for (auto program :
         llvm::make_early_inc_range(getOperation().getOps<ProgramOp>()))
      if (failed(fuseProgram(program, pool)))
        return signalPassFailure();
    if (explain)
      describeKernels(getOperation());
    numKernels += pool.kernels;
    numCalls += pool.calls;
    numOps += pool.ops;
  }

  LogicalResult fuseProgram(ProgramOp program, KernelPool &pool) {
    FailureOr<UpdateNumbers> updates = decomposeProgram(program);
    if (failed(updates))
      return failure();
    Block &block = program.getBody().front();
    eraseDeadOps(block);
    ClusterBuilder builder(
        block, FusionLimits{maxOps, maxBuffers, explain, apart}, *updates);
    if (failed(builder.run()))
      return failure();
    numMissed += builder.getNumMissed();
    for (const std::unique_ptr<Cluster> &cluster : builder.getClusters())
      if (!cluster->ops.empty() && failed(outlineCluster(*cluster, pool)))
        return failure();
    eraseDeadOps(block);
    return success();
  }
};

} // namespace
