//===- SplitAsync.cpp - Make collectives asynchronous ---------------------===//

#include "weft/Schedule/Passes.h"

#include "AsyncProgram.h"

#include "weft/Support/ModulePath.h"

namespace weft {
#define GEN_PASS_DEF_SPLITASYNCPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static int64_t countRanks(plan::CommandOpInterface command) {
  return command->getAttrOfType<IntegerAttr>("ranks").getInt();
}

/// Whether the command gathers the result of a reduction. Such a gather belongs
/// to the reduction.
static bool readsReduced(unsigned index,
                         ArrayRef<plan::CommandOpInterface> commands,
                         const Dependences &dependences) {
  return llvm::any_of(dependences.before(index), [&](unsigned other) {
    plan::CommandOpInterface before = commands[other];
    return before.getStreamNumber() == plan::kReduceStream &&
           plan::getRoot(before->getOperand(1)) ==
               plan::getRoot(
                   plan::CommandOpInterface(commands[index])->getOperand(0));
  });
}

/// Sets the streams of the collectives of a program, and the scopes of
/// collectives that have none.
static void assign(plan::ProgramOp program, bool isShared) {
  const AsyncProgram async = AsyncProgram::read(program);
  Builder builder(program.getContext());
  for (auto [index, each] : llvm::enumerate(async.getCommands())) {
    plan::CommandOpInterface command = each;
    const bool isGather = isa<plan::AllGatherOp>(*command);
    if ((!isGather && !isa<plan::ReduceScatterOp>(*command)) ||
        countRanks(command) == 1)
      continue;
    const bool isPlain =
        isGather && !readsReduced(static_cast<unsigned>(index),
                                  async.getCommands(), async.getDependences());
    command.setStreamAttr(builder.getI64IntegerAttr(
        isShared || isPlain ? plan::kGatherStream : plan::kReduceStream));
    StringRef scope = findScope(static_cast<unsigned>(index),
                                async.getCommands(), async.getDependences());
    if (!command.getScopeAttr() && !scope.empty())
      command.setScopeAttr(builder.getStringAttr(getUnit(scope)));
  }
}

/// Keeps the order of commands. Inserts a wait after consecutive collectives of
/// one stream.
static void split(plan::ProgramOp program) {
  AsyncProgram async = AsyncProgram::read(program);
  ArrayRef<plan::CommandOpInterface> commands = async.getCommands();
  auto getStream = [&](size_t index) {
    plan::CommandOpInterface command = commands[index];
    return command.getStreamNumber();
  };
  SmallVector<AsyncStep> steps;
  for (unsigned i = 0; i < commands.size(); ++i) {
    steps.push_back({i});
    if (async.isAsync(i) &&
        (i + 1 == commands.size() || getStream(i + 1) != getStream(i)))
      steps.push_back({i, /*isWait=*/true});
  }
  // Nothing is in flight when the stream changes.
  async.write(steps, /*inTurn=*/false);
}

namespace {
struct SplitAsyncPass : weft::impl::SplitAsyncPassBase<SplitAsyncPass> {
  using SplitAsyncPassBase::SplitAsyncPassBase;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      assign(program, shareStream);
      split(program);
    }
    if (failed(declareEvents(getOperation())))
      signalPassFailure();
  }
};
} // namespace
