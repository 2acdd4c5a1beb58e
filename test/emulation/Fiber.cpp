//===- Fiber.cpp - Stacks that take turns on one thread -------------------===//

#include "Fiber.h"

#include "Fail.h"

#include <cstdint>
#include <sys/mman.h>

#ifdef WEFT_EMULATION_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef __x86_64__
#error "the emulated device expects an x86-64 machine"
#endif

namespace weft::emulation {

// Threads mostly wait at the same call. So the next fiber continues at the
// address to which this one would have returned, as the processor predicts.
asm(R"(
  .text
  .p2align 4
  .type weft_emu_switch, @function
  .hidden weft_emu_switch
  .globl weft_emu_switch
weft_emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size weft_emu_switch, .-weft_emu_switch
)");

static void (*entryOfNew)();

#ifdef WEFT_EMULATION_ASAN
// The sanitizer must know each stack; it reports the caller's stack itself.
static bool fromOuter;
static const void *outerBottom;
static size_t outerBytes;

static void arrive(void *kept) {
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(kept, &bottom, &bytes);
  if (fromOuter) {
    outerBottom = bottom;
    outerBytes = bytes;
  }
}

void Fiber::resume(Fiber &from) {
  void *kept = nullptr;
  fromOuter = !from.bottom;
  __sanitizer_start_switch_fiber(&kept, bottom ? bottom : outerBottom,
                                 bottom ? kFiberStackBytes : outerBytes);
  weft_emu_switch(&from.place, place);
  arrive(kept);
}
#endif

void startFiber() {
#ifdef WEFT_EMULATION_ASAN
  arrive(nullptr);
#endif
  entryOfNew();
  fail("a fiber has ended");
}

Fiber::Fiber(char *stack, void (*entry)()) {
#ifdef WEFT_EMULATION_ASAN
  bottom = stack;
#endif
  entryOfNew = entry;
  // Stacks begin at different lines of the cache.
  uintptr_t top = reinterpret_cast<uintptr_t>(stack) + kFiberStackBytes;
  top -= top / kFiberStackBytes % 16 * 256;
  void **words = reinterpret_cast<void **>(top) - 2;
  words[0] = reinterpret_cast<void *>(&startFiber);
  words[1] = nullptr; // where startFiber would return to
  place = words - 6;
}

char *mapStacks(size_t count) {
  void *memory =
      mmap(nullptr, count * kFiberStackBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    fail("has no memory for stacks");
  auto *stacks = static_cast<char *>(memory);
  for (size_t i = 0; i < count; ++i)
    mprotect(stackAt(stacks, i), 4096, PROT_NONE);
  return stacks;
}

} // namespace weft::emulation
