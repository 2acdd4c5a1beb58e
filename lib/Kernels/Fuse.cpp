//===- Fuse.cpp - Outline chains of primitive ops as kernels --------------===//

#include "Fusion.h"
#include "weft/Analysis/CommandNames.h"
#include "weft/Kernels/Passes.h"

#include "mlir/IR/Threading.h"

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
    auto programs = llvm::to_vector(getOperation().getOps<ProgramOp>());
    std::vector<std::unique_ptr<ClusterBuilder>> builders;
    for (ProgramOp program : programs)
      if (failed(addBuilder(program, builders)))
        return signalPassFailure();
    // Formulas leave notes at the module; clusters are a program's own.
    std::vector<char> isBuilt(programs.size());
    parallelFor(&getContext(), 0, programs.size(),
                [&](size_t i) { isBuilt[i] = succeeded(builders[i]->run()); });
    if (!llvm::all_of(isBuilt, [](char good) { return good != 0; }))
      return signalPassFailure();
    KernelPool pool(getOperation());
    for (auto [program, builder] : llvm::zip_equal(programs, builders))
      if (failed(outline(program, *builder, pool)))
        return signalPassFailure();
    if (explain)
      describeKernels(getOperation());
    numKernels += pool.kernels;
    numCalls += pool.calls;
    numOps += pool.ops;
  }

  LogicalResult
  addBuilder(ProgramOp program,
             std::vector<std::unique_ptr<ClusterBuilder>> &builders) const {
    FailureOr<UpdateNumbers> updates = decomposeProgram(program);
    if (failed(updates))
      return failure();
    Block &block = program.getBody().front();
    eraseDeadOps(block);
    builders.push_back(std::make_unique<ClusterBuilder>(
        block, FusionLimits{maxOps, maxBuffers, explain, apart}, *updates));
    return success();
  }

  LogicalResult outline(ProgramOp program, const ClusterBuilder &builder,
                        KernelPool &pool) {
    numMissed += builder.getNumMissed();
    for (const std::unique_ptr<Cluster> &cluster : builder.getClusters())
      if (!cluster->ops.empty() && failed(outlineCluster(*cluster, pool)))
        return failure();
    eraseDeadOps(program.getBody().front());
    return success();
  }
};

} // namespace
