//===- CpuRoutines.cpp - Routines of the CPU ------------------------------===//

#include "KernelRange.h"
#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Dist/Dist.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Table/Routines.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;

namespace {
class CpuRoutines final : public TableTarget {
public:
  explicit CpuRoutines(ModuleOp module) {
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (std::optional<KernelRange> range = KernelRange::get(function))
        kernels[function.getSymName()] = {range->extent, range->grain};
  }

  StringRef getTitle() const override { return "the CPU"; }
  StringRef getPrefix() const override { return "weft_cpu_"; }

  int64_t getWorkspaceBytes(const RoutineCall &call,
                            int64_t threads) const override {
    return workspaceBytes(call.kind, call.record.data(), threads);
  }

  LogicalResult check(plan::CommandOpInterface command,
                      const RoutineCall &call) const override {
    if (isTransfer(call.kind))
      return command->emitOpError("expects a target that runs asynchronously "
                                  "to the host, but got the CPU");
    if (plan::isTransfer(command))
      return checkEvent(command);
    auto reduction = dyn_cast<plan::ReduceScatterOp>(command.getOperation());
    if (reduction && reduction.getNative())
      return command->emitOpError("expects an ordered reduction on the CPU, "
                                  "but got a native one");
    const bool isAttention =
        call.kind == WEFT_ATTENTION || call.kind == WEFT_ATTENTION_GRAD;
    // The record of the gradient begins with the forward record.
    if (isAttention && call.as<WeftAttentionRecord>()->hasBits)
      return command->emitOpError("expects attention that draws its random "
                                  "numbers on the CPU, but got one with bits");
    auto product = dyn_cast<plan::GemmOp>(command.getOperation());
    StringRef wrong = product ? findWrong(product) : "";
    if (wrong.empty())
      return success();
    return command->emitOpError(
               "expects a product with at most a bias on the CPU, but got ")
           << wrong;
  }

  StringRef getEventRoutine(int64_t kind) const override {
    return kind == WEFT_RECORD ? "weft_host_record"
           : kind == WEFT_WAIT ? "weft_host_wait"
                               : "";
  }

  StringRef getLowering() const override { return "weft-lower-to-cpu"; }

  std::optional<KernelLaunch> findKernel(StringRef name) const override {
    auto known = kernels.find(name);
    if (known == kernels.end())
      return std::nullopt;
    return known->second;
  }

private:
  /// Checks a record or a wait. The runtime of ranks orders only the compute
  /// stream and the streams of collectives.
  static LogicalResult checkEvent(plan::CommandOpInterface command) {
    if (!dist::findMesh(command->getParentOfType<ModuleOp>()))
      return command->emitOpError("expects a dist.mesh in the module, but "
                                  "there is none");
    const int64_t stream = command.getStreamNumber();
    if (stream == plan::kComputeStream || stream == plan::kGatherStream ||
        stream == plan::kReduceStream)
      return success();
    return command->emitOpError("expects stream 0, or 3 or 4 of collectives, "
                                "but got ")
           << stream;
  }

  /// A feature of the product that products of the CPU lack, or "".
  static StringRef findWrong(plan::GemmOp product) {
    if (product.getColumnSum())
      return "a column_sum";
    if (product.getLhsSum())
      return "an lhs_sum";
    if (product.getRhsSum())
      return "an rhs_sum";
    return product.getEpilogue() == Epilogue::None ? "" : "an epilogue";
  }

  llvm::StringMap<RangeLaunch> kernels;
};
} // namespace

std::unique_ptr<TableTarget> weft::createCpuRoutines(ModuleOp module) {
  return std::make_unique<CpuRoutines>(module);
}
