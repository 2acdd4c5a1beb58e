//===- Scheduler.h - Threads of a block that take turns ---------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_SCHEDULER_H
#define WEFT_TEST_EMULATION_SCHEDULER_H

#include "Block.h"
#include "Fiber.h"

#include <memory>
#include <string>

namespace weft::emulation {

enum class Wait : uint8_t { None, Block, Warp, Ended };

/// A thread of the block. It gets a stack when it starts; threads that never
/// wait share one.
struct Thread {
  WeftEmuPlace place;
  uint32_t number;
  Wait wait;
  uint8_t barrier; // where it waits, if for the block
  uint32_t mask;   // whom it waits for, if for the warp
  uint32_t result;
  Fiber *stack;
};

/// Threads that may run, in the order in which they could.
class ReadyThreads {
public:
  bool isEmpty() const { return head == tail; }
  void clear() { head = tail = 0; }
  void push(uint32_t thread) { items[tail++ % kSize] = thread; }
  uint32_t takeFirst() { return items[head++ % kSize]; }
  uint32_t takeLast() { return items[--tail % kSize]; }
  uint32_t takeAny(Order &order) {
    std::swap(items[head % kSize],
              items[(head + order.below(tail - head)) % kSize]);
    return takeFirst();
  }

private:
  static constexpr uint32_t kSize = kMaxThreads;
  uint16_t items[kSize];
  uint32_t head = 0, tail = 0;
};

/// The grid that runs: one at a time, so there is one of it.
class Scheduler {
public:
  static Scheduler &get() { return *instance; }

  void run(const Grid &grid, const std::function<void()> &body, Order &order);

  Thread &current() { return *running; }
  Thread &thread(uint32_t number) { return threads[number]; }
  uint32_t numThreads() const { return count; }
  uint32_t block() const { return blockNumber; }
  bool isRunning() const { return body != nullptr; }
  const Grid &grid() const { return *ran; }

  /// Another thread runs, until this one is released and chosen.
  void yield() {
    Thread *self = running, *next = pickNext();
    if (next == self)
      return;
    if (!next->stack)
      next->stack = takeStack();
    running = next;
    next->stack->resume(*self->stack);
  }
  /// A thread may go on.
  void release(Thread &thread) {
    thread.wait = Wait::None;
    ready.push(thread.number);
  }

  Bytes stackBytes() const { return {stacks, stackAt(stacks, kMaxThreads)}; }
  void (*blockStart)() = nullptr;

private:
  // Never destroyed: its stacks may be in use when the process ends.
  static Scheduler *const instance;

  enum class Pick { First, Last, Any };

  [[noreturn]] static void enterStack();
  [[noreturn]] void work();
  void leaveEnded(Fiber &self);
  Thread *pickNext() {
    if (ready.isEmpty())
      return goOn();
    return &threads[pick == Pick::First  ? ready.takeFirst()
                    : pick == Pick::Last ? ready.takeLast()
                                         : ready.takeAny(*order)];
  }
  Thread *goOn();
  Thread *startBlock();
  void startThreads();
  void startThread(Thread &thread);
  Fiber *takeStack();

  const Grid *ran = nullptr;
  const std::function<void()> *body = nullptr;
  Order *order = nullptr;
  std::vector<uint32_t> blocksLeft; // the next one last
  uint32_t blockNumber = 0, count = 0, live = 0;
  Pick pick = Pick::First;
  ReadyThreads ready;
  Thread threads[kMaxThreads];
  Thread *running = nullptr;
  Fiber outer;
  char *stacks = nullptr;
  std::vector<std::unique_ptr<Fiber>> allStacks;
  std::vector<Fiber *> freeStacks;
};

/// The state of the block's threads: "threads 0 to 30 wait at barrier 0 of the
/// block, thread 31 has ended".
std::string describeThreads();

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_SCHEDULER_H
