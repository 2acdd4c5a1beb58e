//===- AllocateWorkspaces.cpp - Workspaces of commands --------------------===//

#include "weft/Lowering/Table/Routines.h"
#include "weft/Plan/PlanCollectives.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace weft;

/// The later one of two declarations of a program; `a` may be null.
static Operation *getLater(Operation *a, Operation *b) {
  return !a || a->isBeforeInBlock(b) ? b : a;
}

namespace {
/// The workspaces of one program.
class WorkspaceAdder {
public:
  WorkspaceAdder(const TableTarget &target, int64_t threads)
      : target(target), threads(threads) {}
  LogicalResult run(plan::ProgramOp program);

private:
  struct Need {
    plan::CommandOpInterface command;
    int64_t bytes;
  };

  LogicalResult find(plan::CommandOpInterface command);
  Value allocate(const Need &need, Operation *last);
  void advance(plan::CommandOpInterface command, Operation *&last);

  const TableTarget &target;
  int64_t threads;
  llvm::DenseMap<Operation *, Need> needs;
  /// By stream: the most that one of its collectives needs, and the buffer.
  llvm::DenseMap<int64_t, int64_t> streamBytes;
  llvm::DenseMap<int64_t, Value> streamBuffers;
};
} // namespace

/// Notes the workspace that a command lacks.
LogicalResult WorkspaceAdder::find(plan::CommandOpInterface command) {
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
  needs[command] = {command, *bytes};
  if (plan::isAsync(command)) {
    int64_t &most = streamBytes[command.getStreamNumber()];
    most = std::max(most, *bytes);
  }
  return success();
}

/// A buffer for the command, declared behind `last`. Collectives of a stream
/// run one after the other, so they share one buffer.
Value WorkspaceAdder::allocate(const Need &need, Operation *last) {
  plan::CommandOpInterface command = need.command;
  const bool isShared = plan::isAsync(command);
  const int64_t stream = command.getStreamNumber();
  if (isShared && streamBuffers.contains(stream))
    return streamBuffers[stream];
  OpBuilder builder(command->getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(command->getBlock());
  auto type = MemRefType::get(isShared ? streamBytes[stream] : need.bytes,
                              builder.getI8Type());
  Value buffer = plan::AllocOp::create(builder, command->getLoc(), type,
                                       plan::Role::Workspace, IntegerAttr());
  if (isShared)
    streamBuffers[stream] = buffer;
  return buffer;
}

/// Moves `last` behind the declarations that the command names.
void WorkspaceAdder::advance(plan::CommandOpInterface command,
                             Operation *&last) {
  for (Value buffer : command->getOperands())
    if (Operation *declaration = buffer.getDefiningOp();
        declaration->getBlock() == command->getBlock())
      last = getLater(last, declaration);
}

/// A workspace stands behind what its command and those before it name.
LogicalResult WorkspaceAdder::run(plan::ProgramOp program) {
  auto commands = llvm::to_vector(
      program.getBody().front().getOps<plan::CommandOpInterface>());
  for (plan::CommandOpInterface command : commands)
    if (!isa<plan::LaunchOp>(command) && failed(find(command)))
      return failure();
  Operation *last = nullptr;
  for (plan::CommandOpInterface command : commands) {
    advance(command, last);
    auto need = needs.find(command);
    if (need == needs.end())
      continue;
    cast<plan::WorkspaceOpInterface>(*command).getWorkspaceMutable().assign(
        allocate(need->second, last));
    advance(command, last);
  }
  return success();
}

LogicalResult weft::addWorkspaces(ModuleOp module, const TableTarget &target,
                                  int64_t threads) {
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(WorkspaceAdder(target, threads).run(program)))
      return failure();
  module->setAttr(plan::PlanDialect::kMaxThreadsAttr,
                  Builder(module.getContext()).getI64IntegerAttr(threads));
  return success();
}
