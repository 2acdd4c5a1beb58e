//===- Copies.cpp - Copies to shared memory beside other work -------------===//

#include "Block.h"
#include "Scheduler.h"

#include <cstring>

namespace weft::emulation {
namespace {

/// The copies that a thread has begun and that are not made.
class BegunCopies {
public:
  void begin(void *to, const void *from) {
    weft_emu_store(to, kBytes);
    std::memset(to, kPoison, kBytes);
    copies.push_back({to, from, groups});
  }
  void endGroup() { ++groups; }
  void wait(uint32_t most) {
    size_t done = 0;
    for (; done < copies.size() && copies[done].group + most < groups; ++done)
      make(copies[done]);
    copies.erase(copies.begin(), copies.begin() + done);
  }

private:
  static constexpr size_t kBytes = 16;

  struct Copy {
    void *to;
    const void *from; // null: zeros
    uint32_t group;
  };
  static void make(const Copy &copy) {
    weft_emu_store(copy.to, kBytes);
    if (!copy.from) {
      std::memset(copy.to, 0, kBytes);
      return;
    }
    weft_emu_load(copy.from, kBytes);
    std::memcpy(copy.to, copy.from, kBytes);
  }

  std::vector<Copy> copies;
  uint32_t groups = 0;
};

} // namespace

/// Of the running thread. What threads of other blocks have begun and not
/// waited for is forgotten, as their memory is.
static BegunCopies &copiesOfThread() {
  static auto *all = new BegunCopies[kMaxThreads];
  static uint32_t firstEpochs[kMaxThreads];
  Moment now = currentMoment();
  if (firstEpochs[now.thread] != now.firstEpoch) {
    firstEpochs[now.thread] = now.firstEpoch;
    all[now.thread] = {};
  }
  return all[now.thread];
}

} // namespace weft::emulation

using namespace weft::emulation;

void weft_emu_begin_copy(void *to, const void *from) {
  copiesOfThread().begin(to, from);
}

void weft_emu_end_copies(void) { copiesOfThread().endGroup(); }

void weft_emu_wait_for_copies(uint32_t groups) {
  copiesOfThread().wait(groups);
}
