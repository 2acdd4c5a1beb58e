//===- DriverErrorsTest.cpp - Errors of the emulated driver ---------------===//

#include "Driven.h"
#include "Driver.h"
#include "Fail.h"

#include <tuple>
#include <unistd.h>

namespace weft::emulation {
namespace {

//===----------------------------------------------------------------------===//
// Calls that fail
//===----------------------------------------------------------------------===//

TEST(DriverErrors, CallsInTheWrongState) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        CUdeviceptr place;
        EXPECT_EQ(cuMemAlloc(&place, 1), CUDA_ERROR_NOT_INITIALIZED);
        EXPECT_OK(cuInit(0));
        EXPECT_EQ(cuMemAlloc(&place, 1), CUDA_ERROR_INVALID_CONTEXT);
        _exit(testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "");
}

TEST(DriverErrors, Modules) {
  Program program;
  CUmodule module;
  std::vector<char> cubin = makeCubin();
  cubin.back() = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadData(&module, cubin.data()), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(
      testing::internal::GetCapturedStderr().find("no twins of the cubin"),
      std::string::npos);
  // It says so once of each image.
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadData(&module, cubin.data()), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(cuModuleLoadData(&module, makeCubin(80).data()),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&module, makeCubin(100).data()),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::string text = ".version 8.0 and sixty bytes more, as PTX would have it.";
  text.resize(100);
  EXPECT_EQ(cuModuleLoadData(&module, text.data()), CUDA_ERROR_INVALID_IMAGE);
  CUfunction function;
  EXPECT_EQ(cuModuleGetFunction(&function, program.module, "other"),
            CUDA_ERROR_NOT_FOUND);
}

TEST(DriverErrors, Twins) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("WEFT_TWINS", "none.so", 1);
  EXPECT_EMULATION_ERROR(findTwins("", 0), "cannot open twins: /.*/none.so: ");
  // One without a folder is in the current one.
  EXPECT_EXIT(
      {
        std::string path = TEST_TWINS;
        size_t slash = path.rfind('/');
        setenv("WEFT_TWINS", path.substr(slash + 1).c_str(), 1);
        bool isFound =
            chdir(path.substr(0, slash).c_str()) == 0 && !findTwins("", 0);
        _exit(!isFound);
      },
      testing::ExitedWithCode(0), "");
}

TEST(DriverErrors, Handles) {
  Program program;
  auto none = reinterpret_cast<CUstream>(&program);
  EXPECT_EQ(cuStreamSynchronize(none), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(none), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(nullptr, program.stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphLaunch(nullptr, program.stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemFree(program.x + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(&program), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverErrors, Launches) {
  Program program;
  float value = 1;
  void *arguments[] = {&program.y, &program.x, &value};
  auto launch = [&](unsigned grid, unsigned block, unsigned shared,
                    void **given) {
    return cuLaunchKernel(program.add, grid, 1, 1, block, 1, 1, shared,
                          program.stream, given, nullptr);
  };
  EXPECT_EQ(launch(2, 64, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 32, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(2, 32, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  arguments[2] = nullptr;
  EXPECT_EQ(launch(2, 32, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  arguments[2] = &value;
  EXPECT_EQ(launch(2, 32, 48 << 10 | 1, arguments), CUDA_ERROR_INVALID_VALUE);
  auto attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(cuFuncSetAttribute(program.add, attribute, 228 << 10),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuFuncSetAttribute(program.add, attribute, 227 << 10));
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  EXPECT_OK(launch(2, 32, 227 << 10, arguments));
  void *one[] = {&program.x};
  EXPECT_EQ(cuLaunchKernel(program.race, 1, 65536, 1, 1, 1, 1, 0,
                           program.stream, one, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(program.race, 1, 1, 1, 64, 32, 1, 0, program.stream,
                           one, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  int sharedBytes;
  EXPECT_OK(cuFuncGetAttribute(
      &sharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, program.race));
  EXPECT_EQ(sharedBytes, 16);
}

TEST(DriverErrors, Copies) {
  Program program;
  EXPECT_EQ(cuMemcpyHtoDAsync(program.x + 1, program.host, 256, program.stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoHAsync(program.host, program.x, 257, program.stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemcpyDtoDAsync(program.x, program.x + 128, 128 + 1, program.stream),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoDAsync(program.x, program.x + 64, 128, program.stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8Async(program.x, 0, 257, program.stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EMULATION_ERROR(
      cuMemcpyHtoDAsync(program.x, program.host + 32, 256, program.stream),
      "a copy goes beyond the end of pinned memory of 256");
}

TEST(DriverErrors, Memory) {
  Program program;
  CUdeviceptr place;
  EXPECT_EQ(cuMemAlloc(&place, size_t(1) << 30), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&place, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverErrors, MappedMemory) {
  Program program;
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  size_t unit = 0, before = 0, free = 0, total = 0;
  EXPECT_OK(cuMemGetAllocationGranularity(
      &unit, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  EXPECT_EQ(unit, 256u);
  CUmemGenericAllocationHandle memory;
  CUdeviceptr place;
  CUmemAllocationProp other = properties;
  other.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
  EXPECT_EQ(cuMemCreate(&memory, unit, &other, 0), CUDA_ERROR_INVALID_VALUE);
  other.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(cuMemCreate(&memory, unit, &other, 0), CUDA_ERROR_NOT_SUPPORTED);
  CUmulticastObjectProp object = {};
  const auto option = CU_MULTICAST_GRANULARITY_RECOMMENDED;
  EXPECT_EQ(cuMulticastGetGranularity(&unit, &object, option),
            CUDA_ERROR_INVALID_VALUE);
  object.numDevices = 2;
  EXPECT_EQ(cuMulticastGetGranularity(&unit, &object, option),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemCreate(&memory, unit + 1, &properties, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&memory, size_t(2) << 30, &properties, 0),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAddressReserve(&place, unit + 1, 0, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemGetInfo(&before, &total));
  EXPECT_OK(cuMemCreate(&memory, 4 * unit, &properties, 0));
  EXPECT_OK(cuMemAddressReserve(&place, 4 * unit, 0, 0, 0));
  EXPECT_EQ(cuMemsetD8Async(place, 0, 4, program.stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetAccess(place, 4 * unit, &access, 1),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(place, 2 * unit, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemMap(place, 4 * unit, 0, memory, 0));
  EXPECT_EQ(cuMemMap(place, 4 * unit, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemRelease(memory));
  EXPECT_EQ(cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8Async(place, 0, 4, program.stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemSetAccess(place, 4 * unit, &access, 1));
  EXPECT_OK(cuMemsetD8Async(place, 0, 4 * unit, program.stream));
  EXPECT_OK(cuMemGetInfo(&free, &total));
  EXPECT_EQ(free, before - 4 * unit);
  EXPECT_EQ(cuMemAddressFree(place, 4 * unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemUnmap(place, 4 * unit));
  EXPECT_EQ(cuMemUnmap(place, 4 * unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8Async(place, 0, 4, program.stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemGetInfo(&free, &total));
  EXPECT_EQ(free, before);
  EXPECT_OK(cuMemAddressFree(place, 4 * unit));
  EXPECT_EQ(cuMemAddressFree(place, 4 * unit), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverErrors, WorkOfTheHostMayNotCall) {
  Program program;
  static CUresult result;
  EXPECT_OK(cuLaunchHostFunc(
      program.stream,
      [](void *stream) {
        result = cuStreamSynchronize(static_cast<CUstream>(stream));
      },
      program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
}

TEST(DriverErrors, CallsThatFailAsAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv(
            "WEFT_EMULATION_FAIL",
            "cuMemAlloc:4:CUDA_ERROR_OUT_OF_MEMORY,cuStreamSynchronize:1:719",
            1);
        Program program;
        CUdeviceptr place;
        EXPECT_OK(cuMemAlloc(&place, 1));
        EXPECT_EQ(cuMemAlloc(&place, 1), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_OK(cuMemAlloc(&place, 1));
        EXPECT_EQ(cuStreamSynchronize(program.stream),
                  CUDA_ERROR_LAUNCH_FAILED);
        EXPECT_OK(cuStreamSynchronize(program.stream));
        _exit(testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0),
      "note: CUDA_ERROR_OUT_OF_MEMORY: "
      "cuMemAlloc_v2 fails as asked");
  EXPECT_EMULATION_ERROR(
      (setenv("WEFT_EMULATION_FAIL", "cuInit:1", 1), cuInit(0)),
      "expects WEFT_EMULATION_FAIL to be ENTRY:N:ERROR");
}

TEST(DriverErrors, SettingsThatAreMisspelt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (auto [name, value, message] :
       std::vector<std::tuple<const char *, const char *, const char *>>{
           {"FAIL", "cuInit:1:BAD", "to end with an error, but got 'BAD'"},
           {"FAIL", "cuInit:1:0", "to end with an error, but got '0'"},
           {"FAIL", "cuInit:x:719", "a call from 1 on, but got 'cuInit:x:719'"},
           {"FAIL", "cuInit:0:719", "a call from 1 on, but got 'cuInit:0:719'"},
           {"FAIL", "cuMemAlocHost:1:2",
            "to name an entry point, but got 'cuMemAlocHost'"},
           {"FAIL", "Init:1:2", "to name an entry point, but got 'Init'"},
           {"SEED", "1x", "to be a number, but got '1x'"},
           {"SEED", "", "to be a number, but got ''"},
           {"MEMORY", "1G", "to be a number, but got '1G'"}})
    EXPECT_EXIT(
        (setenv((std::string("WEFT_EMULATION_") + name).c_str(), value, 1),
         cuInit(0)),
        testing::ExitedWithCode(kFailureExit),
        std::string("emulation: error: expects WEFT_EMULATION_") + name +
            ".* " + message);
  // Those of cuBLASLt are checked there.
  EXPECT_EXIT((setenv("WEFT_EMULATION_FAIL", "cublasLtCreate:1:1", 1),
               _exit(cuInit(0))),
              testing::ExitedWithCode(0), "");
}

TEST(DriverErrors, DevicesThatAreHidden) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (auto [list, error] :
       std::vector<std::pair<const char *, int>>{{"0", CUDA_SUCCESS},
                                                 {"0,1", CUDA_SUCCESS},
                                                 {"", CUDA_ERROR_NO_DEVICE},
                                                 {"-1", CUDA_ERROR_NO_DEVICE},
                                                 {"1,0", CUDA_ERROR_NO_DEVICE}})
    EXPECT_EXIT((setenv("CUDA_VISIBLE_DEVICES", list, 1), _exit(cuInit(0))),
                testing::ExitedWithCode(error), "")
        << list;
}

//===----------------------------------------------------------------------===//
// Errors that end the process
//===----------------------------------------------------------------------===//

TEST(DriverErrors, Settings) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EMULATION_ERROR((setenv("WEFT_EMULATION_CHIP", "sm_75", 1), cuInit(0)),
                         "expects WEFT_EMULATION_CHIP to be sm_80, sm_90 or "
                         "sm_100, but got sm_75");
  EXPECT_EMULATION_ERROR(
      (setenv("WEFT_EMULATION_MEMORY", "1000", 1),
       setenv("WEFT_EMULATION_OTHERS", "1001", 1), cuInit(0)),
      "expects WEFT_EMULATION_OTHERS to be at most 1000, but got 1001");
}

/// With 600000 of 1000000 bytes held by others.
static void allocateBesideOthers() {
  setenv("WEFT_EMULATION_MEMORY", "1000000", 1);
  setenv("WEFT_EMULATION_OTHERS", "600000", 1);
  Program program;
  size_t before = 0, free = 0, total = 0;
  EXPECT_OK(cuMemGetInfo(&before, &total));
  EXPECT_EQ(total, 1000000u);
  EXPECT_LE(before, 400000u);
  CUdeviceptr place;
  EXPECT_EQ(cuMemAlloc(&place, 400001), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_OK(cuMemAlloc(&place, 256 * 100));
  EXPECT_OK(cuMemGetInfo(&free, &total));
  EXPECT_EQ(free, before - 256 * 100);
  _exit(testing::Test::HasFailure());
}

/// Memory of other processes is not free and cannot be allocated.
TEST(DriverErrors, MemoryOfOthers) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(allocateBesideOthers(), testing::ExitedWithCode(0), "");
}

TEST(DriverErrors, MemoryOfTheHostThatChanges) {
  Program program;
  auto upload = [&] {
    program.fillHost(1);
    EXPECT_OK(cuMemcpyHtoDAsync(program.x, program.host, 256, program.stream));
    program.host[63] = 2;
    cuStreamSynchronize(program.stream);
  };
  EXPECT_EMULATION_ERROR(upload(), "a copy to the device reads memory of the "
                                   "host that has changed");
}

TEST(DriverErrors, MemoryOfTheHostBehindACopy) {
  // A copy back and forth in one stream is no mistake.
  Program program;
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.x, 256, program.stream));
  EXPECT_OK(cuMemcpyHtoDAsync(program.y, program.host, 256, program.stream));
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.y, 256, program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_EQ(program.host[63], 0);
}

TEST(DriverErrors, KernelsThatAreWrong) {
  Program program;
  void *one[] = {&program.x};
  EXPECT_EMULATION_ERROR(
      {
        cuLaunchKernel(program.race, 2, 1, 1, 1, 1, 1, 0, program.stream, one,
                       nullptr);
        cuStreamSynchronize(program.stream);
      },
      "kernel race: blocks 0 and 1 store to one place: byte 0 of an "
      "allocation of 256 bytes");
  EXPECT_EMULATION_ERROR(
      {
        program.launchAdd(program.y, program.x, 1);
        cuStreamSynchronize(program.stream);
      },
      "kernel add: thread 0 of block 0 reads what nobody has written");
  EXPECT_EMULATION_ERROR(
      {
        cuMemsetD8Async(program.x, 0, 256, program.stream);
        program.launchAdd(program.y, program.x + 4, 1);
        cuStreamSynchronize(program.stream);
      },
      "kernel add: thread 31 of block 1 touches 4 bytes at byte 256");
}

TEST(DriverErrors, TheHostMayNotTouchTheDevice) {
  Program program;
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_EMULATION_ERROR(*reinterpret_cast<volatile float *>(program.x) = 1,
                         "the host touches byte 0 of an allocation of 256");
}

TEST(DriverErrors, WorkOfTheHostOnTheDevice) {
  Program program;
  auto enqueue = [&](void (*work)(void *)) {
    EXPECT_OK(weft_emulation_enqueue(
        program.stream, work, reinterpret_cast<void *>(program.x), nullptr));
    cuStreamSynchronize(program.stream);
  };
  EXPECT_EMULATION_ERROR(
      enqueue([](void *x) { weft_emulation_use(x, 4, 0, "a product"); }),
      "a product reads what nobody has written: byte 0");
  EXPECT_EMULATION_ERROR(
      enqueue([](void *x) { weft_emulation_use(x, 260, 1, "a product"); }),
      "a product touches 260 bytes at byte 0");
  enqueue([](void *x) {
    weft_emulation_use(x, 256, 1, "a product");
    std::memset(x, 0, 256);
    weft_emulation_use(x, 256, 0, "a product");
  });
}

} // namespace
} // namespace weft::emulation
