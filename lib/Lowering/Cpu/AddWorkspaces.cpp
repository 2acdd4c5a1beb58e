//===- AddWorkspaces.cpp - Workspaces of routines of the CPU ------------===//
//
// Abi/CpuWorkspaces.h has their sizes.
//
//===----------------------------------------------------------------------===//

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Lowering/Table/Routines.h"

namespace weft {
#define GEN_PASS_DEF_ADDWORKSPACESPASS
#include "weft/Lowering/Cpu/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct AddWorkspacesPass
    : weft::impl::AddWorkspacesPassBase<AddWorkspacesPass> {
  using AddWorkspacesPassBase::AddWorkspacesPassBase;

  void runOnOperation() override {
    if (threads < 1 || threads > kMostThreads) {
      getOperation().emitError("expects 1 to ")
          << kMostThreads << " threads, but got " << threads.getValue();
      return signalPassFailure();
    }
    if (failed(addWorkspaces(getOperation(), *createCpuRoutines(getOperation()),
                             threads)))
      signalPassFailure();
  }
};
} // namespace
