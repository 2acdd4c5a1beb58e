//===- Scheduler.cpp - Threads of a block that take turns -----------------===//

#include "Scheduler.h"

#include "Fail.h"

namespace weft::emulation {

Scheduler *const Scheduler::instance = new Scheduler;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static void checkGrid(const Grid &grid) {
  uint64_t threads = 1, blocks = 1;
  for (int dim = 0; dim < 3; ++dim) {
    threads *= grid.threads[dim];
    blocks *= grid.blocks[dim];
  }
  if (threads < 1 || threads > kMaxThreads)
    fail("expects 1 to 1024 threads in a block, but got " +
         std::to_string(threads));
  if (blocks < 1 || blocks > UINT32_MAX)
    fail("expects 1 to 2^32 - 1 blocks, but got " + std::to_string(blocks));
  if (grid.sharedBytes > kMaxSharedBytes)
    fail("expects at most " + std::to_string(kMaxSharedBytes) +
         " bytes of shared memory, but got " +
         std::to_string(grid.sharedBytes));
}

void Scheduler::run(const Grid &grid, const std::function<void()> &thread,
                    Order &chosen) {
  if (isRunning())
    fail("a grid cannot start another one");
  checkGrid(grid);
  if (!stacks)
    stacks = mapStacks(kMaxThreads);
  ran = &grid;
  body = &thread;
  order = &chosen;
  count = grid.threads[0] * grid.threads[1] * grid.threads[2];
  uint32_t blocks = grid.blocks[0] * grid.blocks[1] * grid.blocks[2];
  blocksLeft.clear();
  for (uint32_t i = blocks; i-- > 0;)
    blocksLeft.push_back(i);
  order->shuffle(blocksLeft);
  running = startBlock();
  running->stack = takeStack();
  running->stack->resume(outer);
  body = nullptr;
}

/// Makes all threads of the next block ready and picks one; null if there is no
/// block left.
Thread *Scheduler::startBlock() {
  if (blocksLeft.empty())
    return nullptr;
  blockNumber = blocksLeft.back();
  blocksLeft.pop_back();
  startThreads();
  if (blockStart)
    blockStart();
  return pickNext();
}

void Scheduler::startThreads() {
  ready.clear();
  pick = order->isPlain() ? Pick::First : Pick(order->below(3));
  live = count;
  for (uint32_t i = 0; i < count; ++i) {
    threads[i].number = i;
    threads[i].wait = Wait::None;
    threads[i].stack = nullptr;
  }
  if (order->isPlain()) {
    for (uint32_t i = 0; i < count; ++i)
      ready.push(i);
    return;
  }
  std::vector<uint32_t> numbers(count);
  for (uint32_t i = 0; i < count; ++i)
    numbers[i] = i;
  order->shuffle(numbers);
  for (uint32_t i : numbers)
    ready.push(i);
}

static void split(uint32_t number, const unsigned (&sizes)[3],
                  uint32_t (&place)[3]) {
  place[0] = number % sizes[0];
  place[1] = number / sizes[0] % sizes[1];
  place[2] = number / sizes[0] / sizes[1];
}

void Scheduler::startThread(Thread &thread) {
  split(thread.number, ran->threads, thread.place.thread);
  split(blockNumber, ran->blocks, thread.place.block);
  for (int dim = 0; dim < 3; ++dim) {
    thread.place.threads[dim] = ran->threads[dim];
    thread.place.blocks[dim] = ran->blocks[dim];
  }
  thread.place.lane = thread.number % kWarp;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// No thread of the block may run.
Thread *Scheduler::goOn() {
  if (live != 0)
    fail("block " + std::to_string(blockNumber) +
         ": threads wait for each other: " + describeThreads());
  return startBlock();
}

/// Runs threads one after the other, as long as the next one is new.
void Scheduler::work() {
  for (;;) {
    Fiber &self = *running->stack;
    startThread(*running);
    (*body)();
    running->wait = Wait::Ended;
    --live;
    leaveEnded(self);
  }
}

/// Behind a thread's end: the stack is free for another thread.
void Scheduler::leaveEnded(Fiber &self) {
  Thread *next = pickNext();
  if (next && !next->stack) {
    next->stack = &self;
    running = next;
    return;
  }
  freeStacks.push_back(&self);
  running = next;
  (next ? *next->stack : outer).resume(self);
}

void Scheduler::enterStack() { get().work(); }

Fiber *Scheduler::takeStack() {
  if (freeStacks.empty()) {
    allStacks.push_back(std::make_unique<Fiber>(
        stackAt(stacks, allStacks.size()), &Scheduler::enterStack));
    return allStacks.back().get();
  }
  Fiber *stack = freeStacks.back();
  freeStacks.pop_back();
  return stack;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string describe(const Thread &thread) {
  char mask[16];
  switch (thread.wait) {
  case Wait::None:
    return "ready";
  case Wait::Block:
    return "at barrier " + std::to_string(thread.barrier) + " of the block";
  case Wait::Warp:
    std::snprintf(mask, sizeof(mask), "0x%08x", thread.mask);
    return "waiting for the lanes " + std::string(mask) + " of the warp";
  case Wait::Ended:
    return "at the end";
  }
  return "";
}

std::string describeThreads() {
  Scheduler &scheduler = Scheduler::get();
  std::string text;
  uint32_t first = 0;
  for (uint32_t i = 1; i <= scheduler.numThreads(); ++i) {
    std::string state = describe(scheduler.thread(first));
    if (i < scheduler.numThreads() && describe(scheduler.thread(i)) == state)
      continue;
    text += text.empty() ? "" : ", ";
    text += first + 1 == i ? "thread " + std::to_string(first) + " is "
                           : "threads " + std::to_string(first) + " to " +
                                 std::to_string(i - 1) + " are ";
    text += state;
    first = i;
    if (text.size() > 400)
      return text + ", ...";
  }
  return text;
}

} // namespace weft::emulation
