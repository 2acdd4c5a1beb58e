//===- CudaRoutines.cpp - Routines of CUDA devices ------------------------===//

#include "CudaRoutines.h"

#include "weft/Abi/CudaProducts.h"
#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Abi/CudnnAttention.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Plan/PlanCollectives.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace weft;

FailureOr<SmallVector<CudaTarget>> weft::parseChips(ModuleOp module,
                                                    const std::string &chips) {
  std::string problem;
  FailureOr<SmallVector<CudaTarget>> devices =
      parseCudaTargets("cuda:" + chips, problem);
  if (failed(devices))
    module.emitError(problem);
  return devices;
}

/// An array of sizes on a function: grid or block.
static ArrayRef<int32_t> getSizes(Operation *function, StringRef name) {
  auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(name);
  return sizes ? sizes.asArrayRef() : ArrayRef<int32_t>();
}

CudaRoutines::CudaRoutines(ModuleOp module, ArrayRef<CudaTarget> devices)
    : devices(devices) {
  auto lowered = module.lookupSymbol<gpu::GPUModuleOp>(kKernelModule);
  if (!lowered)
    return;
  for (auto kernel : lowered.getOps<LLVM::LLVMFuncOp>()) {
    ArrayRef<int32_t> grid = getSizes(kernel, kGridSize);
    ArrayRef<int32_t> block = getSizes(kernel, kBlockSize);
    if (grid.size() == 3 && block.size() == 3)
      kernels[kernel.getSymName()] = {grid[0], block[0], block[1]};
  }
}

AttentionLibrary weft::getAttentionLibrary(Operation *command) {
  auto attention = command->getAttrOfType<StringAttr>(kAttentionAttr);
  if (!attention)
    return AttentionLibrary::Own;
  return attention.getValue() == kCudnn ? AttentionLibrary::Cudnn
                                        : AttentionLibrary::CudnnOrOwn;
}

CudnnOrder weft::getCudnnOrder(Operation *command) {
  return command->hasAttr(kNondeterministicAttr) ? CudnnOrder::Any
                                                 : CudnnOrder::Fixed;
}

std::string CudaRoutines::getRoutine(plan::CommandOpInterface command,
                                     StringRef name) const {
  std::string routine = TableTarget::getRoutine(command, name);
  if (auto attention = command->getAttrOfType<StringAttr>(kAttentionAttr))
    routine += "_" + attention.str();
  if (getCudnnOrder(command) == CudnnOrder::Any)
    routine += "_nondeterministic";
  return routine;
}

int64_t CudaRoutines::getCudnnBytes(const RoutineCall &call,
                                    CudnnOrder order) const {
  int64_t most = 0;
  for (const CudaTarget &device : devices)
    most = std::max(most, cudnnWorkspaceBytes(call.kind, call.record.data(),
                                              device.getNumber(), order));
  return most;
}

int64_t CudaRoutines::getWorkspaceBytes(const RoutineCall &call,
                                        int64_t threads) const {
  if (call.kind == WEFT_GEMM) {
    int64_t most = 0;
    for (const CudaTarget &device : devices)
      most = std::max(most, cudaGemmWorkspaceBytes(*call.as<WeftGemmRecord>(),
                                                   device.getNumber()));
    return most;
  }
  const int64_t own = cudaWorkspaceBytes(call.kind, call.record.data());
  if (!isAttention(call.kind))
    return own;
  const CudnnOrder order = getCudnnOrder(call.model);
  // Which of the two runs is known when the program starts.
  switch (getAttentionLibrary(call.model)) {
  case AttentionLibrary::Own:
    return own;
  case AttentionLibrary::Cudnn:
    return getCudnnBytes(call, order);
  case AttentionLibrary::CudnnOrOwn:
    return std::max(own, getCudnnBytes(call, order));
  }
  llvm_unreachable("an unknown library");
}

int64_t CudaRoutines::getCollectiveWorkspaceBytes(Operation *collective,
                                                  const void *record) const {
  if (isa<plan::ReduceScatterOp>(collective))
    return cudaReduceScatterBytes(
        *static_cast<const WeftReduceScatterRecord *>(record));
  if (isa<plan::AllReduceOp>(collective))
    return cudaAllReduceBytes(
        *static_cast<const WeftAllReduceRecord *>(record));
  return 0;
}

const WeftAttentionVariant &weft::getVariant(const RoutineCall &call) {
  const auto bytes = static_cast<int64_t>(call.getBytes().size());
  return call.kind == WEFT_ATTENTION
             ? variantOf(*call.as<WeftAttentionRecord>(), bytes)
             : variantOf(*call.as<WeftAttentionGradRecord>(), bytes);
}

static std::string findWrongCudnnOn(const RoutineCall &call, int64_t chip) {
  const WeftAttentionVariant &variant = getVariant(call);
  return call.kind == WEFT_ATTENTION
             ? findWrongCudnnForward(*call.as<WeftAttentionRecord>(), chip,
                                     variant)
             : findWrongCudnnGradient(*call.as<WeftAttentionGradRecord>(), chip,
                                      variant);
}

std::string CudaRoutines::findWrongCudnn(const RoutineCall &call) const {
  for (const CudaTarget &device : devices)
    if (std::string wrong = findWrongCudnnOn(call, device.getNumber());
        !wrong.empty())
      return wrong;
  return "";
}

/// No head is too large for the own routines here.
static LogicalResult emitWrongCudnn(plan::CommandOpInterface command,
                                    const std::string &wrong) {
  InFlightDiagnostic error = command->emitOpError(wrong);
  error.attachNote() << "--attention=own computes it";
  return error;
}

LogicalResult CudaRoutines::checkAttention(plan::CommandOpInterface command,
                                           const RoutineCall &call) const {
  // The record of the gradient begins with the forward record.
  const auto &record = *call.as<WeftAttentionRecord>();
  if (record.headSize > kMostHeadSize)
    return command->emitOpError("expects heads of at most ")
           << kMostHeadSize << " elements on CUDA devices, but got "
           << record.headSize;
  auto chosen = command->getAttrOfType<StringAttr>(kAttentionAttr);
  if (getCudnnOrder(command) == CudnnOrder::Any &&
      (!chosen || call.kind != WEFT_ATTENTION_GRAD))
    return command->emitOpError("expects ")
           << kNondeterministicAttr << " on gradients with " << kAttentionAttr
           << ", but got "
           << (chosen ? "a forward command" : "gradients without it");
  if (!chosen)
    return success();
  if (chosen.getValue() != kCudnn && chosen.getValue() != kCudnnOrOwn)
    return command->emitOpError("expects ")
           << kAttentionAttr << " of \"" << kCudnn << "\" or \"" << kCudnnOrOwn
           << "\", but got " << chosen;
  std::string wrong = findWrongCudnn(call);
  return wrong.empty() ? success() : emitWrongCudnn(command, wrong);
}

LogicalResult CudaRoutines::check(plan::CommandOpInterface command,
                                  const RoutineCall &call) const {
  if (isTransfer(call.kind))
    return success();
  switch (call.kind) {
  case WEFT_GEMM: {
    std::string wrong = findWrongCudaProduct(*call.as<WeftGemmRecord>());
    return wrong.empty() ? success() : command->emitOpError(wrong);
  }
  case WEFT_ATTENTION:
  case WEFT_ATTENTION_GRAD:
    return checkAttention(command, call);
  case WEFT_EXTENSION:
  case WEFT_KERNEL:
  case WEFT_EMBEDDING:
  case WEFT_EMBEDDING_GRAD:
  case WEFT_COPY:
  case WEFT_FILL:
  case WEFT_CONSTANT:
    break;
  }
  return success();
}

std::optional<KernelLaunch> CudaRoutines::findKernel(StringRef name) const {
  auto known = kernels.find(name);
  if (known == kernels.end())
    return std::nullopt;
  return known->second;
}
