//===- QueueTest.cpp - Work that waits for other work ---------------------===//

#include "Queue.h"

#include "gtest/gtest.h"

#include <algorithm>

#include <set>

namespace weft::emulation {
namespace {

/// A queue that records its finished operations.
struct Noted {
  explicit Noted(uint64_t seed) : queue(seed) {}
  OperationRef add(int number, const std::vector<OperationRef> &after) {
    return queue.add([this, number] { done.push_back(number); }, after);
  }
  size_t placeOf(int number) const {
    return std::find(done.begin(), done.end(), number) - done.begin();
  }
  Queue queue;
  std::vector<int> done;
};

TEST(Queue, DoesNothingUntilSomebodyWaits) {
  Noted noted(0);
  OperationRef first = noted.add(1, {});
  OperationRef second = noted.add(2, {first});
  OperationRef third = noted.add(3, {});
  EXPECT_TRUE(noted.done.empty());
  noted.queue.finish(second);
  EXPECT_EQ(noted.done, (std::vector<int>{1, 2}));
  EXPECT_FALSE(noted.queue.isEmpty());
  noted.queue.finish(second);
  noted.queue.finishAll();
  EXPECT_EQ(noted.done, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(third->isDone);
  EXPECT_TRUE(noted.queue.isEmpty());
}

/// Two streams of three, the last of the second waits for the first one.
std::vector<int> orderOf(uint64_t seed, bool waitsForAll) {
  Noted noted(seed);
  std::vector<OperationRef> first = {}, second = {};
  OperationRef last;
  for (int i = 0; i < 3; ++i)
    first = {noted.add(i, first)};
  for (int i = 10; i < 13; ++i) {
    if (i == 12)
      second.push_back(first.front());
    second = {last = noted.add(i, second)};
  }
  OperationRef other = noted.add(20, {});
  noted.queue.finish(last);
  for (int i = 1; i < 3; ++i) {
    EXPECT_LT(noted.placeOf(i - 1), noted.placeOf(i));
    EXPECT_LT(noted.placeOf(9 + i), noted.placeOf(10 + i));
  }
  EXPECT_LT(noted.placeOf(2), noted.placeOf(12));
  if (waitsForAll)
    noted.queue.finishAll();
  return noted.done;
}

TEST(Queue, KeepsTheOrderThatIsAskedFor) {
  EXPECT_EQ(orderOf(0, true), (std::vector<int>{0, 1, 2, 10, 11, 12, 20}));
  std::set<std::vector<int>> orders;
  bool isEarly = false, isLate = false;
  for (uint64_t seed = 1; seed < 100; ++seed) {
    std::vector<int> order = orderOf(seed, false);
    orders.insert(order);
    bool hasOther = std::find(order.begin(), order.end(), 20) != order.end();
    (hasOther ? isEarly : isLate) = true;
    EXPECT_EQ(orderOf(seed, true), orderOf(seed, true));
  }
  // The first five of both streams alone come in ten orders.
  EXPECT_GT(orders.size(), 10u);
  EXPECT_TRUE(isEarly && isLate);
}

// The operation that nothing depends on would wait for another process.
TEST(Queue, DoesOnlyWhatIsNeeded) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Noted noted(seed);
    noted.queue.doOnlyNeeded();
    OperationRef first = noted.add(1, {}), second = noted.add(2, {first});
    noted.add(3, {});
    noted.add(4, {first});
    noted.queue.finish(second);
    EXPECT_EQ(noted.done, (std::vector<int>{1, 2}));
  }
}

TEST(Queue, ManyOperations) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Queue queue(seed);
    OperationRef last;
    int count = 0;
    for (int i = 0; i < 20000; ++i)
      last = queue.add([&] { ++count; },
                       last ? std::vector{last} : std::vector<OperationRef>{});
    queue.finishAll();
    EXPECT_EQ(count, 20000);
  }
}

} // namespace
} // namespace weft::emulation
