//===- PlanStreams.cpp - Orders that the events of a plan allow -----------===//

#include "PlanStreams.h"

#include "weft/Analysis/StreamOrder.h"

#include <deque>
#include <random>

namespace weft {

namespace {
struct Given {
  plan::CommandOpInterface command;
  StreamMoment moment;
};
} // namespace

/// Whether all that has to happen before it is done.
static bool isReady(const StreamMoment &moment, llvm::ArrayRef<int64_t> done) {
  for (auto [stream, needed] : llvm::enumerate(moment.done))
    if (done[stream] < needed - (static_cast<int64_t>(stream) == moment.stream))
      return false;
  return true;
}

std::vector<plan::CommandOpInterface> orderCommands(plan::ProgramOp program,
                                                    uint64_t seed) {
  StreamOrder order(program->getParentOfType<mlir::ModuleOp>());
  std::vector<std::deque<Given>> streams(
      static_cast<size_t>(order.getNumStreams()));
  std::vector<plan::CommandOpInterface> commands;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>()) {
    commands.push_back(command);
    StreamMoment moment = order.add(command);
    streams[static_cast<size_t>(moment.stream)].push_back({command, moment});
  }
  if (seed == 0 || streams.size() == 1)
    return commands;
  std::mt19937_64 random(seed);
  llvm::SmallVector<int64_t> done(streams.size(), 0);
  for (plan::CommandOpInterface &next : commands) {
    llvm::SmallVector<size_t> ready;
    for (auto [stream, left] : llvm::enumerate(streams))
      if (!left.empty() && isReady(left.front().moment, done))
        ready.push_back(stream);
    // Runs of one stream, so that another falls far behind, and turns.
    size_t chosen = ready[random() % ready.size()];
    next = streams[chosen].front().command;
    streams[chosen].pop_front();
    ++done[chosen];
  }
  return commands;
}

} // namespace weft
