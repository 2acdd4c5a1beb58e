//===- Liveness.cpp - When the bytes of a buffer matter -------------------===//

#include "weft/Analysis/Liveness.h"

#include "weft/Analysis/StreamOrder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

/// Extends the lifetime of a buffer to a position.
static void touch(BufferLifetime &lifetime, int64_t position) {
  bool isNew = lifetime.end < lifetime.begin;
  lifetime.begin = isNew ? position : std::min(lifetime.begin, position);
  lifetime.end = isNew ? position : std::max(lifetime.end, position);
}

/// Computes the live bytes at each position, and their peak, by a sweep over
/// the starts and ends of live ranges.
static void findLiveBytes(Liveness &liveness, int64_t alignment) {
  int64_t count = liveness.commands.size();
  SmallVector<int64_t> change(count + 3, 0);
  for (const BufferLifetime &lifetime : liveness.buffers) {
    if (lifetime.end < lifetime.begin)
      continue;
    int64_t bytes = llvm::alignTo(lifetime.bytes, alignment);
    change[lifetime.begin + 1] += bytes;
    change[lifetime.end + 2] -= bytes;
  }
  int64_t live = 0;
  for (int64_t position = -1; position <= count; ++position) {
    live += change[position + 1];
    if (position >= 0 && position < count)
      liveness.liveBytes.push_back(live);
    if (live > liveness.peakBytes) {
      liveness.peakBytes = live;
      liveness.peakPosition = position;
    }
  }
}

/// Extends lifetimes of buffers that are used in several streams: until all
/// later commands of the program that use memory happen after the last use.
static void awaitStreams(plan::ProgramOp program, Liveness &liveness,
                         const DenseMap<Value, size_t> &indices) {
  StreamOrder order(program->getParentOfType<ModuleOp>());
  if (order.getNumStreams() == 1)
    return;
  SmallVector<StreamMoment> moments;
  for (Operation *command : liveness.commands)
    moments.push_back(order.add(cast<plan::CommandOpInterface>(command)));
  for (auto [position, command] : llvm::enumerate(liveness.commands)) {
    int64_t end = static_cast<int64_t>(position);
    for (size_t later = moments.size() - 1; later > position; --later)
      if (liveness.commands[later]->getNumOperands() != 0 &&
          !moments[position].isBefore(moments[later])) {
        end = static_cast<int64_t>(later);
        break;
      }
    for (Value buffer : command->getOperands())
      if (auto found = indices.find(plan::getRoot(buffer));
          found != indices.end())
        touch(liveness.buffers[found->second], end);
  }
}

Liveness weft::computeLiveness(plan::ProgramOp program, int64_t alignment) {
  Liveness liveness;
  DenseMap<Value, size_t> indices;
  auto declare = [&](Value root) -> BufferLifetime & {
    indices[root] = liveness.buffers.size();
    auto type = cast<MemRefType>(root.getType());
    liveness.buffers.push_back({root, plan::getBufferBytes(type)});
    return liveness.buffers.back();
  };
  auto use = [&](Value buffer, int64_t position) {
    auto found = indices.find(plan::getRoot(buffer));
    if (found != indices.end())
      touch(liveness.buffers[found->second], position);
  };
  SmallVector<Value> outputs;
  for (Operation &op : program.getBody().front()) {
    if (isa<plan::InputOp, plan::AllocOp>(op) &&
        plan::isStaged(op.getResult(0)))
      continue;
    if (auto input = dyn_cast<plan::InputOp>(op)) {
      touch(declare(input.getBuffer()), -1);
    } else if (auto alloc = dyn_cast<plan::AllocOp>(op)) {
      declare(alloc.getBuffer());
    } else if (auto output = dyn_cast<plan::OutputOp>(op)) {
      outputs.push_back(output.getBuffer());
    } else if (auto command = dyn_cast<plan::CommandOpInterface>(op)) {
      for (Value buffer : command->getOperands())
        use(buffer, liveness.commands.size());
      liveness.commands.push_back(&op);
    }
  }
  for (Value output : outputs)
    use(output, liveness.commands.size());
  awaitStreams(program, liveness, indices);
  findLiveBytes(liveness, alignment);
  return liveness;
}
