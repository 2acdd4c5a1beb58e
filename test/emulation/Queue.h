//===- Queue.h - Work that waits for other work -----------------*- C++ -*-===//
//
// Operations run when the program waits for some of them, and not before: in
// the order in which they were enqueued, or, with a seed, in any other order
// that their dependences allow.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_QUEUE_H
#define WEFT_TEST_EMULATION_QUEUE_H

#include "Order.h"

#include <functional>
#include <map>
#include <memory>

namespace weft::emulation {

struct Operation {
  uint64_t number;
  std::function<void()> run;
  std::vector<std::shared_ptr<Operation>> after;
  std::vector<Operation *> dependents; // that are not done
  size_t waitsFor = 0;
  bool isDone = false;
};
using OperationRef = std::shared_ptr<Operation>;

class Queue {
public:
  explicit Queue(uint64_t seed) : order(seed) {}

  OperationRef add(std::function<void()> run,
                   const std::vector<OperationRef> &after);
  /// Does work until this is done.
  void finish(const OperationRef &operation);
  void finishAll();
  /// From now on finish() does only work that its target depends on. Work that
  /// waits for another process may do so forever where that process waits for
  /// this one: a device would continue with other work, this queue would not.
  void doOnlyNeeded() { isOnlyNeeded = true; }
  bool isEmpty() const { return pending.empty(); }

private:
  enum class Choice { Oldest, Newest, Any, Needed };

  void mark(Operation *target);
  Operation *choose(Choice choice);
  void runOne(Choice choice);

  Order order;
  bool isOnlyNeeded = false;
  uint64_t numAdded = 0;
  std::map<uint64_t, OperationRef> pending;
  std::vector<Operation *> ready;
  std::map<Operation *, bool> needed;
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_QUEUE_H
