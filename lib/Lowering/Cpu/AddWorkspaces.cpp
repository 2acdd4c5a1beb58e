//===- AddWorkspaces.cpp - Memory that library routines work in -----------===//

#include "weft/Lowering/Cpu/Passes.h"

#include "weft/Lowering/Cpu/CpuCommands.h"
#include "weft/Runtime/Execute/Workspaces.h"

namespace weft {
#define GEN_PASS_DEF_ADDWORKSPACESPASS
#include "weft/Lowering/Cpu/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Gives the command a workspace of its own, if it needs one and has none.
static LogicalResult addWorkspace(plan::CommandOpInterface command,
                                  int64_t threads) {
  FailureOr<CpuCommand> made = CpuCommand::get(command);
  if (failed(made))
    return failure();
  int64_t bytes = made->getWorkspaceBytes(threads);
  if (bytes == 0)
    return success();
  auto user = dyn_cast<plan::WorkspaceOpInterface>(command.getOperation());
  if (!user)
    return command->emitOpError("expects an operand for a workspace of ")
           << bytes << " bytes, which " << made->routine
           << " needs, but has none";
  if (user.getWorkspace())
    return success();
  OpBuilder builder(command);
  auto type = MemRefType::get(bytes, builder.getI8Type());
  auto alloc = plan::AllocOp::create(builder, command.getLoc(), type,
                                     plan::Role::Workspace, IntegerAttr());
  user.getWorkspaceMutable().assign(alloc.getBuffer());
  return success();
}

namespace {
struct AddWorkspacesPass
    : weft::impl::AddWorkspacesPassBase<AddWorkspacesPass> {
  using AddWorkspacesPassBase::AddWorkspacesPassBase;

  void runOnOperation() override {
    if (threads < 1 || threads > kMostThreads) {
      getOperation().emitError("expects 1 to ")
          << kMostThreads << " threads, but got " << threads;
      return signalPassFailure();
    }
    SmallVector<plan::CommandOpInterface> commands;
    getOperation()->walk([&](plan::CommandOpInterface command) {
      if (!isa<plan::LaunchOp>(command))
        commands.push_back(command);
    });
    for (plan::CommandOpInterface command : commands)
      if (failed(addWorkspace(command, threads)))
        return signalPassFailure();
    getOperation()->setAttr(plan::PlanDialect::kMaxThreadsAttr,
                            Builder(&getContext()).getI64IntegerAttr(threads));
  }
};
} // namespace
