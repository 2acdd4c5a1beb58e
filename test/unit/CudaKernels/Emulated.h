//===- Emulated.h - Routines of CUDA on an emulated device ------*- C++ -*-===//
//
// A routine's launches run at once, with the kernels compiled for this machine,
// each in a random order of blocks and threads. What they read and write is
// checked: in shared memory no two threads without a barrier between them and
// nothing that was not written, in memory of the device nothing outside of what
// was allocated and nothing that two blocks of a launch share.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_CUDAKERNELS_EMULATED_H
#define WEFT_TEST_UNIT_CUDAKERNELS_EMULATED_H

#include "../Routines/Harness.h"
#include "Memory.h"
#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Runtime/Devices/Launch.h"

namespace weft {

/// Names of what was launched since the last call, copies and fills too.
std::vector<std::string> takeLaunches();

/// Sets the exchange between ranks and the rank of the device.
void setExchange(std::function<void(const DeviceExchange &)> exchange,
                 int rank);

/// Sets the library between the devices, as a function; null: there is none.
void setReduction(std::function<void(const DeviceReduction &)> reduction);

/// Elements in memory of the emulated device, `shift` elements from where it
/// begins, a multiple of 256 bytes: NaN, or the number -1, before they are
/// written. What kernels do to it and around it is checked.
template <typename T> class Guarded {
public:
  explicit Guarded(size_t count, size_t shift = 0)
      : count(count), shift(shift),
        memory(emulation::DeviceMemory::get().allocate(
            std::max<size_t>(1, (shift + count) * sizeof(T)))) {}
  Guarded(const std::vector<T> &values, size_t shift)
      : Guarded(values.size(), shift) {
    write(0, values.data(), values.size());
  }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { emulation::DeviceMemory::get().free(memory); }

  T *data() { return reinterpret_cast<T *>(memory) + shift; }
  void write(size_t at, const T *values, size_t number) {
    if (number == 0)
      return;
    std::memcpy(data() + at, values, number * sizeof(T));
    emulation::DeviceMemory::get().markWritten(data() + at, number * sizeof(T));
  }
  /// Returns the written elements; nothing may have been written before them.
  std::vector<T> take() {
    for (size_t i = 0; i < shift * sizeof(T); ++i)
      EXPECT_EQ(memory[i], '\xff') << "at " << i;
    return {data(), data() + count};
  }

private:
  size_t count, shift;
  char *memory;
};

/// Runs a routine as a command of `kind` whose last buffer is a workspace of
/// `workspaceBytes`, if that is not 0.
inline void callWith(WeftContext &context, WeftLibraryFn routine,
                     const std::vector<const void *> &buffers,
                     int64_t workspaceBytes, const RecordBytes &record,
                     WeftCommandKind kind) {
  std::vector<void *> addresses;
  for (const void *buffer : buffers)
    addresses.push_back(const_cast<void *>(buffer));
  WeftCommand command = {};
  command.name = "routine";
  command.scope = "h.3";
  command.library = routine;
  command.kind = kind;
  command.record = record.data();
  command.recordBytes = record.size();
  command.numBuffers = static_cast<int32_t>(addresses.size());
  command.workspaceBytes = workspaceBytes;
  routine(&context, &command, addresses.data());
}

/// Runs a routine of CUDA with the workspace that the compiler gives it.
inline void callCuda(WeftCommandKind kind, WeftContext &context,
                     WeftLibraryFn routine,
                     const std::vector<const void *> &buffers,
                     const RecordBytes &record) {
  int64_t bytes =
      holdsRecord(kind, record) ? cudaWorkspaceBytes(kind, record.data()) : 0;
  Guarded<char> memory(bytes);
  std::vector<const void *> all = buffers;
  if (bytes > 0)
    all.push_back(memory.data());
  callWith(context, routine, all, bytes, record, kind);
}

/// Runs one that must succeed.
inline void callCudaOk(WeftCommandKind kind, WeftLibraryFn routine,
                       const std::vector<const void *> &buffers,
                       const RecordBytes &record) {
  TestContext context(1);
  callCuda(kind, context, routine, buffers, record);
  ASSERT_FALSE(context.failed()) << context.message();
}

/// Runs one without workspace, as a command of kind `given`, that must report
/// `message` and launch nothing.
inline void expectCudaError(WeftCommandKind kind, const std::string &message,
                            WeftLibraryFn routine,
                            const std::vector<const void *> &buffers,
                            const RecordBytes &record,
                            WeftCommandKind given = WEFT_KERNEL) {
  TestContext context(1);
  takeLaunches();
  callWith(context, routine, buffers, 0, record,
           given == WEFT_KERNEL ? kind : given);
  EXPECT_EQ(context.error(), 70);
  EXPECT_EQ(context.message(), "routine in h.3: " + message);
  EXPECT_TRUE(takeLaunches().empty());
}

} // namespace weft

#endif // WEFT_TEST_UNIT_CUDAKERNELS_EMULATED_H
