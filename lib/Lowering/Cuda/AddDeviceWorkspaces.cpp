//===- AddDeviceWorkspaces.cpp - Workspaces of device routines ------------===//

#include "CudaRoutines.h"

#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Transfers.h"

namespace weft {
#define GEN_PASS_DEF_ADDDEVICEWORKSPACESPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct AddDeviceWorkspacesPass
    : weft::impl::AddDeviceWorkspacesPassBase<AddDeviceWorkspacesPass> {
  using AddDeviceWorkspacesPassBase::AddDeviceWorkspacesPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<CudaTarget>> devices =
        parseChips(getOperation(), chips);
    if (failed(devices))
      return signalPassFailure();
    if (failed(addWorkspaces(getOperation(),
                             CudaRoutines(getOperation(), *devices),
                             /*threads=*/1)))
      return signalPassFailure();
    const int64_t constants =
        plan::countConstantBytes(getOperation(), kConstantAlignment);
    if (constants != 0)
      getOperation()->setAttr(
          plan::kConstantBytesAttr,
          Builder(&getContext()).getI64IntegerAttr(constants));
  }
};
} // namespace
