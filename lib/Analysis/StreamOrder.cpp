//===- StreamOrder.cpp - Happens-before order of a plan -------------------===//

#include "weft/Analysis/StreamOrder.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

StreamOrder::StreamOrder(ModuleOp module) {
  int64_t count = 1;
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto command :
         program.getBody().front().getOps<plan::CommandOpInterface>())
      count = std::max(count, command.getStreamNumber() + 1);
  streams.assign(static_cast<size_t>(count),
                 Done(static_cast<size_t>(count), 0));
}

StreamMoment StreamOrder::add(plan::CommandOpInterface command) {
  const int64_t stream = command.getStreamNumber();
  Done &done = streams[static_cast<size_t>(stream)];
  if (auto wait = dyn_cast<plan::WaitOp>(*command)) {
    auto event = events.find(wait.getEventAttr().getAttr());
    if (event != events.end())
      for (auto [mine, others] : llvm::zip(done, event->second))
        mine = std::max(mine, others);
  }
  ++done[static_cast<size_t>(stream)];
  if (auto record = dyn_cast<plan::RecordOp>(*command))
    events[record.getEventAttr().getAttr()] = done;
  return {stream, done};
}
