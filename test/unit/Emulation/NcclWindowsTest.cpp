//===- NcclWindowsTest.cpp - Windows and captures of the emulated NCCL ----===//

#include "EmulatedRanks.h"

namespace weft::emulation {
namespace {

constexpr size_t kCount = 64;

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

TEST(NcclCaptures, ForbiddenCalls) {
  runRanks(1, [](Rank &r) {
    ncclUniqueId id = r.shareId();
    ncclConfig_t config = makeConfig();
    ncclComm_t comm = nullptr, other = nullptr;
    EXPECT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config));
    ncclWindow_t window = nullptr;
    float *x = r.make(std::vector<float>(kCount, 1));
    r.finish();
    auto expectForbidden = [&](const std::function<ncclResult_t()> &call,
                               bool isInvalid = true) {
      EXPECT_OK(cuStreamBeginCapture(r.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
      EXPECT_REFUSED(call(), ncclInvalidUsage, "while a stream captures");
      CUgraph graph = nullptr;
      EXPECT_EQ(cuStreamEndCapture(r.stream, &graph),
                isInvalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                          : CUDA_SUCCESS);
    };
    EXPECT_NCCL(ncclGetUniqueId(&id));
    expectForbidden(
        [&] { return ncclCommInitRankConfig(&other, 1, id, 0, &config); });
    expectForbidden([&] { return ncclCommSplit(comm, 0, 0, &other, nullptr); });
    expectForbidden([&] {
      return ncclCommWindowRegister(comm, x, 256, &window,
                                    NCCL_WIN_COLL_SYMMETRIC);
    });
    expectForbidden([&] { return ncclCommWindowDeregister(comm, window); });
    expectForbidden([&] { return ncclCommFinalize(comm); });
    expectForbidden([&] { return ncclCommDestroy(comm); });
    expectForbidden([&] { return ncclCommAbort(comm); }, /*isInvalid=*/false);
    Rank::leave(comm);
  });
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

constexpr size_t kUnit = 256;

/// Mapped memory.
char *mapMemory(size_t bytes, bool isExportable = true) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes =
      isExportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                   : CU_MEM_HANDLE_TYPE_NONE;
  CUmemGenericAllocationHandle memory;
  CUdeviceptr place;
  CUmemAccessDesc access = {properties.location,
                            CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_OK(cuMemCreate(&memory, bytes, &properties, 0));
  EXPECT_OK(cuMemAddressReserve(&place, bytes, 0, 0, 0));
  EXPECT_OK(cuMemMap(place, bytes, 0, memory, 0));
  EXPECT_OK(cuMemSetAccess(place, bytes, &access, 1));
  return reinterpret_cast<char *>(place);
}

TEST(NcclWindows, Windows) {
  runRanks(2, [](Rank &r) {
    ncclComm_t comm = r.join();
    char *place = mapMemory(4 * kUnit);
    ncclWindow_t window = nullptr;
    auto open = [&](void *at, size_t bytes, int flags) {
      return ncclCommWindowRegister(comm, at, bytes, &window, flags);
    };
    const int symmetric = NCCL_WIN_COLL_SYMMETRIC;
    EXPECT_REFUSED(open(nullptr, kUnit, symmetric), ncclInvalidArgument,
                   "but got null");
    EXPECT_REFUSED(open(place, kUnit, 7), ncclInvalidArgument,
                   "expects flags of windows, but got 7");
    EXPECT_REFUSED(open(place + 1, kUnit, symmetric), ncclInvalidArgument,
                   "whole units of 256 bytes");
    EXPECT_REFUSED(open(place, kUnit + 1, symmetric), ncclInvalidArgument,
                   "but got 257 bytes");
    EXPECT_REFUSED(open(place, 5 * kUnit, symmetric), ncclInvalidArgument,
                   "cuMemMap has mapped");
    EXPECT_REFUSED(open(r.allocate<char>(kUnit), kUnit, symmetric),
                   ncclInvalidArgument, "cuMemMap has mapped");
    EXPECT_NCCL(ncclCommWindowDeregister(comm, nullptr));
    EXPECT_NCCL(open(place, 4 * kUnit, symmetric));
    EXPECT_NE(window, nullptr);
    EXPECT_REFUSED(ncclCommFinalize(comm), ncclInvalidUsage,
                   "windows are still registered");
    EXPECT_NCCL(ncclCommWindowDeregister(comm, window));
    EXPECT_REFUSED(ncclCommWindowDeregister(comm, window), ncclInvalidArgument,
                   "expects a window");
    Rank::leave(comm);
  });
}

TEST(NcclWindows, MemoryThatMayNotBeExported) {
  runRanks(2, [](Rank &r) {
    ncclComm_t comm = r.join();
    char *place = mapMemory(4 * kUnit, /*isExportable=*/false);
    ncclWindow_t window = nullptr;
    EXPECT_REFUSED(ncclCommWindowRegister(comm, place, 4 * kUnit, &window,
                                          NCCL_WIN_COLL_SYMMETRIC),
                   ncclUnhandledCudaError, "may not be exported");
    EXPECT_EQ(window, nullptr);
    r.meet(1);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

TEST(NcclWindows, UnequalWindows) {
  runRanks(2, [](Rank &r) {
    ncclComm_t comm = r.join();
    char *place = mapMemory(4 * kUnit);
    ncclWindow_t window = nullptr;
    EXPECT_REFUSED(ncclCommWindowRegister(comm, place, r.rank == 0 ? 256 : 512,
                                          &window, NCCL_WIN_COLL_SYMMETRIC),
                   ncclInvalidUsage, "registers");
    hasText(lastError(comm), "256");
    hasText(lastError(comm), "512");
    r.meet(1);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

} // namespace
} // namespace weft::emulation
