//===- HostDevice.cpp - The CPU as a device -------------------------------===//

#include "weft/Runtime/Devices/HostDevice.h"

#include "weft/Abi/TransferRecords.h"
#include "weft/Base/CountText.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/MachineMemory.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <sys/mman.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Arena
//===----------------------------------------------------------------------===//

Arena::~Arena() {
  if (base)
    munmap(base, bytes);
}

/// Maps more than needed, then gives back what lies before the first aligned
/// address and after the end.
bool Arena::allocate(int64_t size) {
  constexpr int64_t page = 4096, huge = int64_t(2) << 20;
  int64_t alignment = size >= huge ? huge : page;
  int64_t rounded = (std::max<int64_t>(size, 1) + page - 1) / page * page;
  int64_t mapped = rounded + (alignment - page);
  void *address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return false;
  char *start = static_cast<char *>(address);
  int64_t misaligned = reinterpret_cast<uintptr_t>(start) % alignment;
  int64_t head = misaligned ? alignment - misaligned : 0;
  if (head > 0)
    munmap(start, head);
  if (int64_t tail = mapped - head - rounded; tail > 0)
    munmap(start + head + rounded, tail);
  base = start + head;
  bytes = size;
  if (alignment == huge)
    madvise(base, rounded, MADV_HUGEPAGE);
  return true;
}

//===----------------------------------------------------------------------===//
// Memory and programs
//===----------------------------------------------------------------------===//

std::string HostDevice::describe() const {
  return countText(threads, "thread");
}

int64_t HostDevice::peakBytes() const { return peakMemory(); }

Status HostDevice::copyIn(int64_t offset, const void *data, int64_t bytes) {
  std::memcpy(arena.data() + offset, data, size_t(bytes));
  return Status::success();
}

Status HostDevice::copyOut(void *data, int64_t offset, int64_t bytes) {
  std::memcpy(data, arena.data() + offset, size_t(bytes));
  return Status::success();
}

Status HostDevice::zero(int64_t offset, int64_t bytes) {
  std::memset(arena.data() + offset, 0, size_t(bytes));
  return Status::success();
}

char *HostDevice::inputBytes(const WeftPort &port) {
  return arena.data() + port.offset;
}

const char *HostDevice::outputBytes(const WeftPort &port) {
  return arena.data() + port.offset;
}

bool HostDevice::start(WeftContext &context, const WeftProgram &program) {
  assert(!isInFlight && "expects the last run to be finished");
  isInFlight = runProgram(context, program);
  return isInFlight;
}

bool HostDevice::finish(WeftContext &) {
  assert(isInFlight && "expects a run that was started");
  isInFlight = false;
  return true;
}

void HostDevice::warmUp(WeftContext &context,
                        const std::vector<const WeftProgram *> &programs) {
  weft::warmUp(context, programs);
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

std::string weft::checkHostTables(const WeftExecutable &executable, int ranks) {
  if (std::string wrong = checkTables(executable, ranks); !wrong.empty())
    return wrong;
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program))
      if (isTransfer(command.kind))
        return concat("expects commands of the CPU, but got '", command.name,
                      "' of another device");
      else if (command.deviceKernel)
        return concat("expects kernels of the CPU, but got the kernel '",
                      command.name, "' of another device");
  return "";
}

std::unique_ptr<WeftContext>
WeftContext::create(const WeftExecutable &executable,
                    const ContextOptions &options, std::string &error) {
  error = checkHostTables(executable, options.ranks);
  if (!error.empty())
    return nullptr;
  ContextOptions limited = options;
  limited.maxThreads = executable.maxThreads;
  auto context = std::make_unique<WeftContext>(limited);
  auto device = std::make_shared<HostDevice>(context->threads());
  if (!device->arena.allocate(executable.arenaBytes)) {
    error =
        "cannot allocate " + exactBytes(executable.arenaBytes) + " of memory";
    return nullptr;
  }
  char *base = device->arena.data();
  if (options.poisoned)
    std::memset(base, 0xFF, size_t(executable.arenaBytes));
  context->attach(executable, std::move(device), base);
  return context;
}
