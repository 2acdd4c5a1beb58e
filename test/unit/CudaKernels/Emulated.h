//===- Emulated.h - Routines of CUDA on an emulated device ------*- C++ -*-===//
//
// A routine's launches run at once, with the kernels compiled for this machine,
// each in a random order of blocks and threads. Memory of the device is memory
// of the test.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_CUDAKERNELS_EMULATED_H
#define WEFT_TEST_UNIT_CUDAKERNELS_EMULATED_H

#include "../Kernels/Harness.h"
#include "weft/Runtime/Execute/CudaLibrary.h"
#include "weft/Runtime/Execute/CudaWorkspaces.h"

namespace weft {

/// Names of what was launched since the last call, copies and fills too.
std::vector<std::string> takeLaunches();

/// Elements between guards, at an address that is `shift` elements from a
/// multiple of 64 bytes; NaN, or the number -1, before they are written.
template <typename T> class Guarded {
public:
  explicit Guarded(size_t count, size_t shift = 0)
      : count(count), bytes(count * sizeof(T) + 3 * kGuard, kByte) {
    auto begin = reinterpret_cast<uintptr_t>(bytes.data());
    at = (begin + 2 * kGuard - 1) / kGuard * kGuard - begin + shift * sizeof(T);
    EXPECT_LE(shift * sizeof(T), kGuard);
  }
  Guarded(const std::vector<T> &values, size_t shift)
      : Guarded(values.size(), shift) {
    if (!values.empty())
      std::memcpy(data(), values.data(), values.size() * sizeof(T));
  }
  T *data() { return reinterpret_cast<T *>(bytes.data() + at); }
  /// What was written; nothing may have been written around it.
  std::vector<T> take() {
    for (size_t i = 0; i < bytes.size(); ++i)
      if (i < at || i >= at + count * sizeof(T))
        EXPECT_EQ(bytes[i], kByte) << "at " << i;
    return {data(), data() + count};
  }

private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kByte = 0xff;
  size_t count, at = 0;
  std::vector<unsigned char> bytes;
};

/// Runs a routine of CUDA with the workspace that the compiler gives it.
inline void callCuda(WeftCommandKind kind, WeftContext &context,
                     WeftLibraryFn routine,
                     const std::vector<const void *> &buffers,
                     const RecordBytes &record) {
  int64_t bytes =
      holdsRecord(kind, record) ? cudaWorkspaceBytes(kind, record.data()) : 0;
  GuardedWorkspace workspace(bytes);
  callIn(workspace, bytes, context, routine, buffers, record, kind);
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
  GuardedWorkspace workspace(0);
  takeLaunches();
  callIn(workspace, 0, context, routine, buffers, record,
         given == WEFT_KERNEL ? kind : given);
  EXPECT_EQ(context.error(), 70);
  EXPECT_EQ(context.message(), "routine in h.3: " + message);
  EXPECT_TRUE(takeLaunches().empty());
}

} // namespace weft

#endif // WEFT_TEST_UNIT_CUDAKERNELS_EMULATED_H
