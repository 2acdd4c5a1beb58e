//===- Queue.cpp - Work that waits for other work -------------------------===//

#include "Queue.h"

#include <algorithm>

namespace weft::emulation {

OperationRef Queue::add(std::function<void()> run,
                        const std::vector<OperationRef> &after) {
  auto operation = std::make_shared<Operation>();
  operation->number = numAdded++;
  operation->run = std::move(run);
  for (const OperationRef &other : after) {
    if (other->isDone)
      continue;
    operation->after.push_back(other);
    other->dependents.push_back(operation.get());
    ++operation->waitsFor;
  }
  pending[operation->number] = operation;
  if (operation->waitsFor == 0)
    ready.push_back(operation.get());
  return operation;
}

/// Fills `needed` with what has to be done before `target` is.
void Queue::mark(Operation *target) {
  needed.clear();
  std::vector<Operation *> left = {target};
  while (!left.empty()) {
    Operation *next = left.back();
    left.pop_back();
    if (next->isDone || !needed.emplace(next, true).second)
      continue;
    for (const OperationRef &other : next->after)
      left.push_back(other.get());
  }
}

Operation *Queue::choose(Choice choice) {
  std::vector<Operation *> candidates = ready;
  if (choice == Choice::Needed)
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [&](Operation *operation) {
                                      return !needed.count(operation);
                                    }),
                     candidates.end());
  std::sort(candidates.begin(), candidates.end(),
            [](Operation *a, Operation *b) { return a->number < b->number; });
  if (choice == Choice::Oldest)
    return candidates.front();
  if (choice == Choice::Newest)
    return candidates.back();
  return candidates[order.below(uint32_t(candidates.size()))];
}

void Queue::runOne(Choice choice) {
  Operation *chosen = choose(choice);
  ready.erase(std::find(ready.begin(), ready.end(), chosen));
  chosen->run();
  chosen->isDone = true;
  chosen->run = nullptr;
  chosen->after.clear();
  for (Operation *dependent : chosen->dependents)
    if (--dependent->waitsFor == 0)
      ready.push_back(dependent);
  chosen->dependents.clear();
  pending.erase(chosen->number);
}

void Queue::finish(const OperationRef &operation) {
  if (operation->isDone)
    return;
  Choice choice = Choice(order.below(4));
  if (isOnlyNeeded)
    choice = Choice::Needed;
  if (choice == Choice::Needed)
    mark(operation.get());
  while (!operation->isDone)
    runOne(choice);
}

void Queue::finishAll() {
  Choice choice = Choice(order.below(3));
  while (!pending.empty())
    runOne(choice);
}

} // namespace weft::emulation
