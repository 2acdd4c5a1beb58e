//===- Faults.cpp - Accesses to memory that is not there ------------------===//

#include "Fail.h"
#include "Memory.h"

#include <csignal>
#include <link.h>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Memory of loaded libraries
//===----------------------------------------------------------------------===//

namespace {
struct Search {
  uintptr_t place;
  bool isStore, isFound;
};
} // namespace

static int searchSegments(dl_phdr_info *library, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = library->dlpi_phdr[i];
    uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.place >= begin &&
        search.place < begin + segment.p_memsz)
      search.isFound = !search.isStore;
  }
  return search.isFound;
}

bool isConstant(const void *place, bool isStore) {
  Search search = {reinterpret_cast<uintptr_t>(place), isStore, false};
  dl_iterate_phdr(searchSegments, &search);
  return search.isFound;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

static struct sigaction previous;

static void reportFault(int signal, siginfo_t *info, void *) {
  const void *place = info->si_addr;
  if (isOnStack(place))
    fail("a thread has no stack left");
  if (const Allocation *allocation = DeviceMemory::get().find(place)) {
    bool fromHost = allocation->has(place) && !allocation->isFreed;
    fail(std::string(fromHost ? "the host" : "something") + " touches " +
         describePlace(place));
  }
  if (isInGrid())
    fail("touches " + describePlace(place));
  // A program's own fault: as without us.
  sigaction(SIGSEGV, &previous, nullptr);
}

/// A thread without stack needs another one to say so.
static void addSignalStack() {
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  if (!(stack.ss_flags & SS_DISABLE))
    return;
  constexpr size_t kBytes = 64 << 10;
  stack = {};
  stack.ss_sp = new char[kBytes]; // as long as the thread lives
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

void reportFaults() {
  static thread_local bool hasStack;
  if (!hasStack)
    addSignalStack();
  hasStack = true;
  static bool isDone;
  if (isDone)
    return;
  isDone = true;
  struct sigaction action = {};
  action.sa_sigaction = reportFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &previous);
}

} // namespace weft::emulation
