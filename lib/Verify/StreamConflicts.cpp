//===- StreamConflicts.cpp - Streams never conflict -----------------------===//
//
// Programs run in sequence, in any order. If the order of commands of two
// consecutive runs is certain, it is also certain with other runs between them:
// a stream runs in order, and one stream records an event, so that a later
// record covers all that an earlier one covers. Checking two runs is therefore
// enough.
//
//===----------------------------------------------------------------------===//

#include "VerifyPlan.h"

#include "ArenaMap.h"
#include "weft/Analysis/StreamOrder.h"

using namespace mlir;
using namespace weft;

namespace {
/// A use of a buffer by a command.
struct Use {
  plan::CommandOpInterface command;
  Value root;
  ByteRange bytes;
  bool isWrite;
  StreamMoment moment;
};

auto commandsOf(plan::ProgramOp program) {
  return program.getBody().front().getOps<plan::CommandOpInterface>();
}

/// Two consecutive runs.
class TwoRuns {
public:
  explicit TwoRuns(ModuleOp module)
      : order(module), uses(static_cast<size_t>(order.getNumStreams())) {}

  void addFirst(plan::ProgramOp program) {
    for (auto command : commandsOf(program))
      for (Use &use : getUses(command))
        add(std::move(use));
  }
  LogicalResult addSecond(plan::ProgramOp program) {
    for (auto command : commandsOf(program))
      for (Use &use : getUses(command)) {
        if (failed(verify(use)))
          return failure();
        add(std::move(use));
      }
    return success();
  }

private:
  void add(Use use) {
    uses[static_cast<size_t>(use.moment.stream)].push_back(std::move(use));
  }
  SmallVector<Use> getUses(plan::CommandOpInterface command);
  LogicalResult verify(const Use &use) const;

  StreamOrder order;
  std::vector<std::vector<Use>> uses; // of each stream, in its order
};
} // namespace

SmallVector<Use> TwoRuns::getUses(plan::CommandOpInterface command) {
  StreamMoment moment = order.add(command);
  SmallVector<Use> found;
  for (const plan::Access &access : command.getAccesses()) {
    Value root = plan::getRoot(access.buffer);
    found.push_back(
        {command, root, getRootBytes(root), access.isWritten, moment});
  }
  return found;
}

static LogicalResult report(const Use &first, const Use &second) {
  plan::CommandOpInterface command = second.command, other = first.command;
  ByteRange bytes = second.bytes, otherBytes = first.bytes;
  InFlightDiagnostic error =
      command->emitOpError("expects to ")
      << (second.isWrite ? "write " : "read ") << bytes << " after "
      << other->getName() << (first.isWrite ? " has written " : " has read ")
      << otherBytes << " in stream " << first.moment.stream
      << ", but got no event that orders them";
  const bool isSameRun = command->getBlock() == other->getBlock() &&
                         other->isBeforeInBlock(command);
  error.attachNote(other->getLoc())
      << "in " << (isSameRun ? "the same" : "an earlier") << " run of @"
      << cast<plan::ProgramOp>(other->getParentOp()).getSymName();
  error.attachNote(second.root.getLoc()) << "the buffer";
  return error;
}

/// Checks a use against earlier uses in other streams.
LogicalResult TwoRuns::verify(const Use &use) const {
  for (auto [stream, earlier] : llvm::enumerate(uses)) {
    if (static_cast<int64_t>(stream) == use.moment.stream)
      continue;
    for (const Use &other : llvm::reverse(earlier)) {
      // Earlier commands of its stream have ended as well.
      if (other.moment.isBefore(use.moment))
        break;
      if ((use.isWrite || other.isWrite) && use.bytes.overlaps(other.bytes))
        return report(other, use);
    }
  }
  return success();
}

LogicalResult weft::verifyStreams(ModuleOp module) {
  if (StreamOrder(module).getNumStreams() == 1)
    return success();
  for (auto first : module.getOps<plan::ProgramOp>())
    for (auto second : module.getOps<plan::ProgramOp>()) {
      TwoRuns runs(module);
      runs.addFirst(first);
      if (failed(runs.addSecond(second)))
        return failure();
    }
  return success();
}
