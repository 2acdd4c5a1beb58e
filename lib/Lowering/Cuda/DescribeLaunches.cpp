//===- DescribeLaunches.cpp - The launches of a device's kernels ----------===//

#include "weft/Formats/Json.h"
#include "weft/Lowering/Cuda/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft {
#define GEN_PASS_DEF_DESCRIBELAUNCHESPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Kernel -> [blocks of the grid, threads of a block along x, along y].
static Json describeLaunches(ModuleOp module) {
  Json launches = Json::object();
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
      auto grid = kernel->getAttrOfType<DenseI32ArrayAttr>(kGridSize);
      auto block = kernel->getAttrOfType<DenseI32ArrayAttr>(kBlockSize);
      if (!grid || !block || grid.size() != 3 || block.size() != 3)
        continue;
      Json launch = Json::array();
      for (int32_t size : {grid[0], block[0], block[1]})
        launch.push(int64_t(size));
      launches.set(kernel.getSymName().str(), std::move(launch));
    }
  return launches;
}

namespace {
struct DescribeLaunchesPass
    : weft::impl::DescribeLaunchesPassBase<DescribeLaunchesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto text = module->getAttrOfType<StringAttr>("weft.metadata");
    Expected<Json> meta = parseJson(text ? text.str() : "", "weft.metadata");
    if (!meta || !meta->isObject()) {
      module.emitError("expects the attribute weft.metadata with a JSON "
                       "object; run weft-describe-executable first");
      return signalPassFailure();
    }
    meta->set("launches", describeLaunches(module));
    module->setAttr("weft.metadata",
                    StringAttr::get(&getContext(), meta->compact()));
  }
};
} // namespace
