//===- AddWorkspaces.cpp - Memory that library routines work in -----------===//

#include "weft/Lowering/Table/Routines.h"

using namespace mlir;
using namespace weft;

/// The later one of two declarations of a program; `a` may be null.
static Operation *getLater(Operation *a, Operation *b) {
  return !a || a->isBeforeInBlock(b) ? b : a;
}

/// Gives the command a workspace of its own, declared behind `last`, if it
/// needs one and has none.
static LogicalResult addWorkspace(plan::CommandOpInterface command,
                                  Operation *last, const TableTarget &target,
                                  int64_t threads) {
  FailureOr<RoutineCall> made = RoutineCall::get(command, target);
  if (failed(made))
    return failure();
  FailureOr<int64_t> bytes = made->getWorkspaceBytes(target, threads);
  if (failed(bytes))
    return failure();
  if (*bytes == 0)
    return success();
  auto user = dyn_cast<plan::WorkspaceOpInterface>(command.getOperation());
  if (!user)
    return command->emitOpError("expects an operand for a workspace of ")
           << *bytes << " bytes, which " << made->routine
           << " needs, but has none";
  if (user.getWorkspace())
    return success();
  OpBuilder builder(command->getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(command->getBlock());
  auto type = MemRefType::get(*bytes, builder.getI8Type());
  auto alloc = plan::AllocOp::create(builder, command.getLoc(), type,
                                     plan::Role::Workspace, IntegerAttr());
  user.getWorkspaceMutable().assign(alloc.getBuffer());
  return success();
}

/// A workspace stands behind what its command and those before it name.
static LogicalResult addWorkspaces(plan::ProgramOp program,
                                   const TableTarget &target, int64_t threads) {
  Operation *last = nullptr;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>()) {
    auto advance = [&] {
      for (Value buffer : command->getOperands())
        if (Operation *declaration = buffer.getDefiningOp();
            declaration->getBlock() == command->getBlock())
          last = getLater(last, declaration);
    };
    advance();
    if (!isa<plan::LaunchOp>(command) &&
        failed(addWorkspace(command, last, target, threads)))
      return failure();
    advance();
  }
  return success();
}

LogicalResult weft::addWorkspaces(ModuleOp module, const TableTarget &target,
                                  int64_t threads) {
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(::addWorkspaces(program, target, threads)))
      return failure();
  module->setAttr(plan::PlanDialect::kMaxThreadsAttr,
                  Builder(module.getContext()).getI64IntegerAttr(threads));
  return success();
}
