//===- CudaTest.cpp - PTX and machine code for CUDA devices ---------------===//

#include "CudaInput.h"

#include "weft/Abi/CudaChips.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace mlir;
using namespace weft::test;

namespace weft {
namespace {

TEST(Cuda, NamesOfTargets) {
  for (const char *chip : {"sm_80", "sm_90", "sm_100"})
    EXPECT_EQ(parse((std::string("cuda:") + chip).c_str()).chip, chip);
  std::string error;
  EXPECT_TRUE(failed(CudaTarget::parse("cuda:sm_70", error)));
  EXPECT_EQ(error, "expects the target cuda:sm_80, cuda:sm_90 or cuda:sm_100, "
                   "but got cuda:sm_70");
}

TEST(Cuda, FindsTheChipWhoseCodeRunsOnADevice) {
  EXPECT_EQ(findCudaChip(7, 5), 0);
  EXPECT_EQ(findCudaChip(8, 0), 80);
  EXPECT_EQ(findCudaChip(8, 9), 80);
  EXPECT_EQ(findCudaChip(9, 0), 90);
  EXPECT_EQ(findCudaChip(10, 3), 100);
  EXPECT_EQ(findCudaChip(12, 0), 0);
  for (int chip : kCudaChips) {
    std::string error;
    EXPECT_TRUE(
        succeeded(CudaTarget::parse("cuda:sm_" + std::to_string(chip), error)))
        << error;
  }
}

TEST(Cuda, EqualModulesGiveEqualPtx) {
  Input a(kKernels), b(kKernels);
  FailureOr<std::string> first = emitPtx(*a.module, parse("cuda:sm_90")),
                         second = emitPtx(*b.module, parse("cuda:sm_90"));
  ASSERT_TRUE(succeeded(first) && succeeded(second)) << a.message;
  EXPECT_EQ(*first, *second);
  EXPECT_NE(first->find(".entry k_1("), std::string::npos);
}

TEST(Cuda, KernelsHaveToBeLowered) {
  Input input("module {}");
  EXPECT_TRUE(failed(emitPtx(*input.module, parse("cuda:sm_90"))));
  EXPECT_EQ(input.message, "expects kernels in the NVVM dialect; run "
                           "weft-lower-to-cuda first");
}

TEST(Cuda, MachineCodeOfEachTarget) {
  Input input(kKernels);
  if (failed(findInToolkit(*input.module, "bin/ptxas")))
    GTEST_SKIP() << "no CUDA toolkit: " << input.message;
  for (const char *target : {"cuda:sm_80", "cuda:sm_90", "cuda:sm_100"}) {
    FailureOr<std::vector<char>> code = emitCubin(*input.module, parse(target));
    ASSERT_TRUE(succeeded(code)) << input.message;
    EXPECT_EQ(std::string(code->data(), 4), "\x7f"
                                            "ELF");
    EXPECT_EQ(*code, *emitCubin(*input.module, parse(target)));
  }
}

TEST(Cuda, WithoutPtxasAnErrorSaysWhereItLooked) {
  FakeToolkit toolkit;
  Input input(kKernels);
  EXPECT_TRUE(failed(emitCubin(*input.module, parse("cuda:sm_90"))));
  EXPECT_EQ(input.message,
            "expects bin/ptxas of a CUDA toolkit, but found none in " +
                toolkit.folder +
                "; install the CUDA toolkit, or set WEFT_CUDA_HOME to its "
                "folder");
}

TEST(Cuda, ToolkitsThatDifferHaveIdentitiesThatDo) {
  FakeToolkit toolkit;
  std::set<std::string> identities = {identifyToolkit()};
  EXPECT_EQ(*identities.begin(), "none none");
  toolkit.setPtxas("exit 0");
  EXPECT_TRUE(identities.insert(identifyToolkit()).second);
  toolkit.setPtxas("exit 1");
  EXPECT_TRUE(identities.insert(identifyToolkit()).second);
  std::filesystem::create_directories(toolkit.folder + "/nvvm/libdevice");
  std::ofstream(toolkit.folder + "/" + kLibdevice) << "BC";
  EXPECT_TRUE(identities.insert(identifyToolkit()).second);
  EXPECT_FALSE(identities.insert(identifyToolkit()).second);
  // A folder cannot be read, and is known by its path.
  std::filesystem::remove(toolkit.folder + "/" + kLibdevice);
  std::filesystem::create_directories(toolkit.folder + "/" + kLibdevice);
  EXPECT_NE(identifyToolkit().find(toolkit.folder), std::string::npos);
}

TEST(Cuda, WhatPtxasSaysFollowsTheError) {
  FakeToolkit toolkit;
  toolkit.setPtxas("echo too old >&2\nexit 3");
  Input input(kKernels);
  EXPECT_TRUE(failed(emitCubin(*input.module, parse("cuda:sm_90"))));
  EXPECT_EQ(input.message,
            toolkit.folder +
                "/bin/ptxas: assembling failed: exit code 3: too old");
}

// The machine code that a ptxas makes which keeps registers in memory unless
// the text has `needs`, with the text behind it; how often it ran, in `runs`.
static std::string assembleUntil(const std::string &needs, int &runs) {
  FakeToolkit toolkit;
  const std::string folder = toolkit.folder + "/";
  std::ofstream(folder + "whole", std::ios::binary) << machineCode();
  std::ofstream(folder + "spills", std::ios::binary) << machineCode(16);
  toolkit.setPtxas(("echo >> " + folder + "runs; code=spills; grep -q '" +
                    needs + "' \"$5\" && code=whole; cat " + folder +
                    "$code \"$5\" > \"$4\"")
                       .c_str());
  Input input(kKernels);
  FailureOr<std::vector<char>> code =
      emitCubin(*input.module, parse("cuda:sm_90"));
  EXPECT_TRUE(succeeded(code)) << input.message;
  std::ifstream lines(folder + "runs");
  runs = std::count(std::istreambuf_iterator<char>(lines), {}, '\n');
  return succeeded(code) ? std::string(code->begin(), code->end()) : "";
}

// 65,536 registers are six blocks: one less is asked for, and again.
TEST(Cuda, RegistersInMemoryAreFewerBlocks) {
  int runs = 0;
  std::string code = assembleUntil(".entry", runs);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(code.find(".minnctapersm"), std::string::npos);
  code = assembleUntil("minnctapersm 4", runs);
  EXPECT_EQ(runs, 3);
  size_t entry = code.find(".entry k_1("), asked = code.find(".minnctapersm 4");
  EXPECT_LT(entry, asked);
  EXPECT_LT(asked, code.find("\n{", entry));
  EXPECT_EQ(code.find(".minnctapersm", asked + 1), std::string::npos);
}

// Values that spill even with one block stay in memory, and ptxas decides.
TEST(Cuda, RegistersThatStayInMemory) {
  int runs = 0;
  std::string code = assembleUntil("no such text", runs);
  EXPECT_EQ(runs, 7);
  EXPECT_EQ(code.find(".minnctapersm"), std::string::npos);
}

} // namespace
} // namespace weft
