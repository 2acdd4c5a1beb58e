//===- EmulatedRanks.h - Processes that are ranks ---------------*- C++ -*-===//
//
// A test forks a process for each rank. Ranks wait for each other by counters
// in shared memory, never for a time; an alarm ends ranks that hang.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_EMULATION_EMULATEDRANKS_H
#define WEFT_TEST_UNIT_EMULATION_EMULATEDRANKS_H

#include <cuda.h>
#include <nccl.h>

#include "gtest/gtest.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace weft::emulation {

#define EXPECT_OK(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define EXPECT_NCCL(call) EXPECT_EQ(call, ncclSuccess)

constexpr unsigned kSecondsToHang = 120;

/// Memory that the processes share.
struct SharedPlace {
  ncclUniqueId id;
  std::atomic<int> counters[8];
};

inline ncclConfig_t makeConfig(int blocking = 1, int channels = 2) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = blocking;
  config.maxCTAs = channels;
  return config;
}

/// One process of a test.
class Rank {
public:
  Rank(int rank, int size, SharedPlace &shared)
      : rank(rank), size(size), shared(shared) {
    setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }

  /// An id that all ranks have.
  ncclUniqueId shareId() {
    if (rank == 0)
      EXPECT_NCCL(ncclGetUniqueId(&shared.id));
    meet(0);
    return shared.id;
  }
  /// A communicator of all ranks.
  ncclComm_t join(ncclConfig_t config = makeConfig()) {
    ncclComm_t comm = nullptr;
    ncclUniqueId id = shareId();
    EXPECT_NCCL(ncclCommInitRankConfig(&comm, size, id, rank, &config));
    return comm;
  }
  ncclComm_t joinWithoutBlocking() {
    ncclConfig_t config = makeConfig(0);
    ncclComm_t comm = nullptr;
    ncclUniqueId id = shareId();
    EXPECT_EQ(ncclCommInitRankConfig(&comm, size, id, rank, &config),
              ncclInProgress);
    EXPECT_EQ(settle(comm), ncclSuccess);
    return comm;
  }
  /// The asynchronous error once the communicator is no longer in progress.
  static ncclResult_t settle(ncclComm_t comm) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
      EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
      usleep(500);
    }
    return state;
  }
  /// The asynchronous error once there is one.
  static ncclResult_t waitForError(ncclComm_t comm) {
    ncclResult_t state = ncclSuccess;
    while (state == ncclSuccess || state == ncclInProgress) {
      EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
      usleep(500);
    }
    return state;
  }
  static void leave(ncclComm_t comm) {
    EXPECT_NCCL(ncclCommFinalize(comm));
    EXPECT_NCCL(ncclCommDestroy(comm));
  }

  void count(int counter) { ++shared.counters[counter]; }
  void await(int counter, int value) const {
    while (shared.counters[counter] < value)
      usleep(500);
  }
  /// Waits until all ranks have come here, once for each counter and round.
  void meet(int counter) {
    count(counter);
    await(counter, ++rounds[counter] * size);
  }

  template <typename T> T *allocate(size_t count) {
    CUdeviceptr place = 0;
    EXPECT_OK(cuMemAlloc(&place, count * sizeof(T)));
    return reinterpret_cast<T *>(place);
  }
  template <typename T> void upload(T *to, const std::vector<T> &values) {
    EXPECT_OK(cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to),
                                values.data(), values.size() * sizeof(T),
                                stream));
  }
  template <typename T> T *make(const std::vector<T> &values) {
    T *place = allocate<T>(values.size());
    upload(place, values);
    return place;
  }
  template <typename T> std::vector<T> download(const T *from, size_t count) {
    std::vector<T> values(count);
    EXPECT_OK(cuMemcpyDtoHAsync(values.data(),
                                reinterpret_cast<CUdeviceptr>(from),
                                count * sizeof(T), stream));
    return values;
  }
  void finish() { EXPECT_OK(cuStreamSynchronize(stream)); }

  const int rank, size;
  SharedPlace &shared;
  CUstream stream = nullptr;

private:
  CUcontext context = nullptr;
  int rounds[8] = {};
};

inline std::string lastError(ncclComm_t comm = nullptr) {
  return ncclGetLastError(comm);
}
inline bool hasText(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos)
    return true;
  ADD_FAILURE() << "'" << text << "' has no '" << part << "'";
  return false;
}

#define EXPECT_REFUSED(call, error, text)                                      \
  do {                                                                         \
    EXPECT_EQ(call, error);                                                    \
    hasText(lastError(), text);                                                \
  } while (false)

/// Runs `body` as each of `size` ranks; `killed` is the rank that ends by
/// SIGKILL.
inline void runRanks(int size, const std::function<void(Rank &)> &body,
                     int killed = -1) {
  auto *shared = new (mmap(nullptr, sizeof(SharedPlace), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0)) SharedPlace();
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(kSecondsToHang);
      Rank own(rank, size, *shared);
      body(own);
      std::fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (int rank = 0; rank < size; ++rank) {
    int status = 0;
    waitpid(children[static_cast<size_t>(rank)], &status, 0);
    if (rank == killed)
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    else
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "rank " << rank << " of " << size << " ends with status "
          << status;
  }
  munmap(shared, sizeof(SharedPlace));
}

} // namespace weft::emulation

#endif // WEFT_TEST_UNIT_EMULATION_EMULATEDRANKS_H
