//===- Fiber.h - Stacks that take turns on one thread -----------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_FIBER_H
#define WEFT_TEST_EMULATION_FIBER_H

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_EMULATION_ASAN 1
#endif
#endif

/// Pushes the callee-saved registers, stores the stack pointer in *from, and
/// continues on the stack `to`.
extern "C" void weft_emu_switch(void **from, void *to);

namespace weft::emulation {

constexpr size_t kFiberStackBytes = size_t(256) << 10;

/// A stack with a place in a program. It never ends: its entry, which is the
/// same for all, must not return.
class Fiber {
public:
  Fiber() = default; // the caller's own stack
  Fiber(char *stack, void (*entry)());

  /// Leaves the running fiber `from` and continues this one where it was left.
  void resume(Fiber &from)
#ifdef WEFT_EMULATION_ASAN
      ;
#else
  {
    weft_emu_switch(&from.place, place);
  }
#endif

private:
  void *place = nullptr;
#ifdef WEFT_EMULATION_ASAN
  char *bottom = nullptr;
#endif
};

/// Memory for `count` stacks, each with a page below it that nobody may touch.
char *mapStacks(size_t count);
inline char *stackAt(char *stacks, size_t i) {
  return stacks + i * kFiberStackBytes;
}

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_FIBER_H
