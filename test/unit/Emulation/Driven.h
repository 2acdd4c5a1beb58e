//===- Driven.h - A program for the emulated driver -------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_EMULATION_DRIVEN_H
#define WEFT_TEST_UNIT_EMULATION_DRIVEN_H

#include <cuda.h>
#include <elf.h>

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace weft::emulation {

#define EXPECT_OK(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define EXPECT_EMULATION_ERROR(statement, message)                             \
  EXPECT_EXIT(statement, testing::ExitedWithCode(99),                          \
              "emulation: error: " message)

/// A file that is a cubin as far as a driver looks, and the only one with twins
/// in TestTwins.cpp.
inline std::vector<char> makeCubin(int chip = 90) {
  std::vector<char> bytes(sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + 16);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = 190;
  header.e_flags = unsigned(chip) << 8;
  header.e_ehsize = sizeof(header);
  header.e_shoff = sizeof(header);
  header.e_shnum = 1;
  Elf64_Shdr section = {};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof(header) + sizeof(section);
  section.sh_size = 16;
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), &section, sizeof(section));
  return bytes;
}

/// The device, a stream and the kernels of TestTwins.cpp.
struct Program {
  Program() {
    setenv("WEFT_TWINS", TEST_TWINS, 1);
    std::vector<char> cubin = makeCubin();
    std::ofstream(TEST_CUBIN, std::ios::binary)
        .write(cubin.data(), std::streamsize(cubin.size()));
    EXPECT_OK(cuInit(0));
    CUcontext context;
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cubin.resize(cubin.size() + 100); // the driver finds the end
    EXPECT_OK(cuModuleLoadData(&module, cubin.data()));
    EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
    EXPECT_OK(cuModuleGetFunction(&exchange, module, "exchange"));
    EXPECT_OK(cuModuleGetFunction(&race, module, "race"));
    EXPECT_OK(cuMemAllocHost(reinterpret_cast<void **>(&host), 64 * 4));
    for (CUdeviceptr *place : {&x, &y})
      EXPECT_OK(cuMemAlloc(place, 64 * 4));
  }
  ~Program() {
    cuStreamSynchronize(stream);
    for (CUdeviceptr place : {x, y})
      EXPECT_OK(cuMemFree(place));
    EXPECT_OK(cuMemFreeHost(host));
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_OK(cuStreamDestroy(stream));
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
  }

  void fillHost(float value) {
    for (int i = 0; i < 64; ++i)
      host[i] = value;
  }
  /// to = from + value.
  CUresult launchAdd(CUdeviceptr to, CUdeviceptr from, float value,
                     CUstream in) {
    void *arguments[] = {&to, &from, &value};
    return cuLaunchKernel(add, 2, 1, 1, 32, 1, 1, 0, in, arguments, nullptr);
  }
  CUresult launchAdd(CUdeviceptr to, CUdeviceptr from, float value) {
    return launchAdd(to, from, value, stream);
  }

  CUstream stream;
  CUmodule module;
  CUfunction add, exchange, race;
  CUdeviceptr x, y; // of 64 floats each
  float *host;      // likewise
};

} // namespace weft::emulation

#endif // WEFT_TEST_UNIT_EMULATION_DRIVEN_H
