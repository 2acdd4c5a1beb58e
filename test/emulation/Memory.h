//===- Memory.h - Memory of the emulated device, checked --------*- C++ -*-===//
//
// Memory of the device is memory of this machine: between allocations lie pages
// that nobody may touch, and addresses are never used twice. A new allocation
// is full of poison, and so is what poison() is told of. Of every byte it is
// known whether something has written it and which block did so last; of every
// byte of shared memory, who has used it since threads have met. Kernels that
// tell their accesses (Emulation.h) are checked against that.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_MEMORY_H
#define WEFT_TEST_EMULATION_MEMORY_H

#include "Block.h"

#include <atomic>
#include <map>
#include <string>

namespace weft::emulation {

/// The writer of a byte: nobody, the host (for everything but kernels), or a
/// block. Each block of each launch has a number of its own.
constexpr uint32_t kNobody = 0, kHost = 1;

/// A part of the device's memory.
struct Allocation {
  char *begin, *end;
  char *mapped; // with the pages around it
  size_t mappedBytes;
  bool isFreed = false;
  bool isAccessible = true;  // false: addresses without memory
  bool isAllWritten = false; // known so without a look at each byte
  uint32_t *writers; // of each byte: the last one, kNobody, kHost or a block
  bool has(const void *place) const { return place >= begin && place < end; }
  size_t bytes() const { return end - begin; }
  /// With the pages around it.
  bool isNear(const void *place) const {
    return place >= mapped && place < mapped + mappedBytes;
  }
};

/// Bytes that memory for reserved addresses is made in.
size_t granularity();

class DeviceMemory {
public:
  /// Of `capacity` bytes, `others` belong to other processes.
  explicit DeviceMemory(size_t capacity, size_t others = 0)
      : capacity(capacity), taken(others) {}
  /// The memory of this process: WEFT_EMULATION_MEMORY bytes, 1 GiB if it is
  /// not set, of which WEFT_EMULATION_OTHERS are taken.
  static DeviceMemory &get();

  /// Null if there is not that much left.
  char *allocate(size_t bytes);
  /// False if no allocation begins there.
  bool free(const void *place);
  /// Addresses that have no memory yet.
  char *reserve(size_t bytes);
  /// Takes memory for them, false if there is not that much left; gives it
  /// back.
  bool take(size_t bytes);
  void giveBack(size_t bytes) { taken -= bytes; }
  /// Reserved addresses get memory, full of poison, or lose it.
  void setAccessible(const Allocation &allocation, bool isAccessible);
  size_t total() const { return capacity; }
  size_t used() const { return taken; }

  /// The allocation that an address lies in or near to, freed ones as well.
  const Allocation *find(const void *place);
  /// The only allocation of so many bytes, or of the next multiple of the
  /// granularity; null if there is none or several.
  const Allocation *findOfSize(size_t bytes) const;

  /// Checks an access of the host to a part of the memory: fails unless all of
  /// it is one allocation and, for a read, unless something has written it.
  void expectRange(const void *place, size_t bytes, const std::string &who);
  void expectWritten(const void *place, size_t bytes, const std::string &who);
  void markWritten(const void *place, size_t bytes);
  /// The same of all bytes of an allocation.
  void markAllWritten(const Allocation &allocation);
  /// As a new allocation is: nobody has written it.
  void poison(void *place, size_t bytes);
  /// As far as they are written, they are written there too.
  void copyMarks(const void *to, const void *from, size_t bytes);

  /// Nobody but kernels and copies may touch the memory: it is closed while
  /// none runs.
  void setOpen(bool open);

private:
  void protect(const Allocation &allocation);

  size_t capacity;
  std::atomic<size_t> taken; // a thread may give back while another one works
  bool isOpen = true;
  std::map<const char *, Allocation> allocations; // by the end of the mapping
  const Allocation *last = nullptr;
};

/// Tells the checks that a launch begins: blocks of one launch are compared.
void beginLaunch();

/// Whether an address lies in a loaded program, which a kernel may only read.
bool isConstant(const void *place, bool isStore);

/// Describes an address for messages: "byte 12 of 64 bytes on the device".
std::string describePlace(const void *place);

/// From here on an access to memory that is not there ends the process with a
/// message, as a failed check does.
void reportFaults();

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_MEMORY_H
