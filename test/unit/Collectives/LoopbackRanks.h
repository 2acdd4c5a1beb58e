//===- LoopbackRanks.h - A thread for each rank of a test -------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_COLLECTIVES_LOOPBACKRANKS_H
#define WEFT_TEST_UNIT_COLLECTIVES_LOOPBACKRANKS_H

#include "CollectiveChecks.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <functional>
#include <thread>

namespace weft {

/// A rank leaves when its body ends.
inline void onLoopback(int ranks,
                       const std::function<void(Transport &)> &body) {
  auto all = connectLoopback(ranks);
  std::vector<std::thread> threads;
  for (std::unique_ptr<Transport> &one : all)
    threads.emplace_back([&body, mine = std::move(one)] { body(*mine); });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace weft

#endif // WEFT_TEST_UNIT_COLLECTIVES_LOOPBACKRANKS_H
