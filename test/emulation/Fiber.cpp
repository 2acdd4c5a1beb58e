//===- Fiber.cpp - Stacks that take turns on one thread -------------------===//

#include "Fiber.h"

#include "Fail.h"

#include <cstdint>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_EMULATION_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#endif

#ifndef __x86_64__
#error "the emulated device expects an x86-64 machine"
#endif

namespace weft::emulation {

// Saves what a callee has to keep, and the place of the stack in *from. The way
// back is a jump: a return would be predicted to go where this call came from.
extern "C" void weft_emu_switch(void **from, void *to);
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
  popq %rcx
  jmpq *%rcx
  .size weft_emu_switch, .-weft_emu_switch
)");

static void (*entryOfNew)();

#ifdef WEFT_EMULATION_ASAN
// The sanitizer wants to know each stack; that of the caller it tells itself.
static const Fiber *left;
static const void *outerBottom;
static size_t outerBytes;

static void arrive(void *kept, bool fromOuter) {
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(kept, &bottom, &bytes);
  if (fromOuter) {
    outerBottom = bottom;
    outerBytes = bytes;
  }
}
#endif

void startFiber() {
#ifdef WEFT_EMULATION_ASAN
  arrive(nullptr, !left->getBottom());
#endif
  entryOfNew();
  fail("a fiber has ended");
}

Fiber::Fiber(char *stack, void (*entry)()) : bottom(stack) {
  entryOfNew = entry;
  // Stacks begin at different lines of the cache.
  uintptr_t top = reinterpret_cast<uintptr_t>(stack) + kFiberStackBytes;
  top -= top / kFiberStackBytes % 32 * 64;
  void **words = reinterpret_cast<void **>(top) - 2;
  words[0] = reinterpret_cast<void *>(&startFiber);
  words[1] = nullptr; // where startFiber would return to
  place = words - 6;
}

void Fiber::resume(Fiber &from) {
#ifdef WEFT_EMULATION_ASAN
  void *kept = nullptr;
  left = &from;
  __sanitizer_start_switch_fiber(&kept, bottom ? bottom : outerBottom,
                                 bottom ? kFiberStackBytes : outerBytes);
#endif
  weft_emu_switch(&from.place, place);
#ifdef WEFT_EMULATION_ASAN
  arrive(kept, !left->getBottom());
#endif
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
