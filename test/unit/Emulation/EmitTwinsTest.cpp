//===- EmitTwinsTest.cpp - Kernels for the emulated device ----------------===//

#include "EmitTwins.h"

#include "../Lowering/CudaInput.h"

#include "weft/Formats/Digest.h"

using namespace mlir;
using namespace weft::test;

namespace weft {
namespace {

bool contains(const std::vector<char> &object, const std::string &text) {
  return std::string(object.begin(), object.end()).find(text) !=
         std::string::npos;
}

TEST(EmitTwins, NameTheirMachineCode) {
  FakeToolkit toolkit;
  setCopyingPtxas(toolkit);
  Input input(kKernels);
  CudaTarget target = parse("cuda:sm_90");
  FailureOr<std::string> ptx = emitPtx(*input.module, target);
  FailureOr<std::vector<char>> twins =
      emitTwins(*input.module, target, /*isChecked=*/false);
  ASSERT_TRUE(succeeded(ptx) && succeeded(twins)) << input.message;
  for (const std::string &text :
       {digest128(machineCode() + *ptx), std::string("k_1"),
        std::string("weft_twins"), std::string("sm_90")})
    EXPECT_TRUE(contains(*twins, text)) << text;
  EXPECT_FALSE(contains(*twins, "weft_emu_load"));
  EXPECT_EQ(*twins, *emitTwins(*input.module, target, /*isChecked=*/false));
  FailureOr<std::vector<char>> checked =
      emitTwins(*input.module, target, /*isChecked=*/true);
  EXPECT_TRUE(contains(*checked, "weft_emu_load"));
  EXPECT_TRUE(contains(*checked, "weft_emu_store"));
}

/// The error of a kernel whose body has no twin.
std::string twinError(const std::string &body) {
  FakeToolkit toolkit;
  setCopyingPtxas(toolkit);
  Input input((R"(
gpu.module @kernels {
  llvm.func @k_1(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
)" + body + R"(
    llvm.return
  }
}
)")
                  .c_str());
  EXPECT_TRUE(failed(
      emitTwins(*input.module, parse("cuda:sm_90"), /*isChecked=*/true)));
  return input.message;
}

TEST(EmitTwins, UnsupportedInstructions) {
  EXPECT_EQ(twinError(R"(
    %0 = nvvm.read.ptx.sreg.clock : i32
    llvm.store %0, %y : i32, !llvm.ptr<1>)"),
            "does not support llvm.nvvm.read.ptx.sreg.clock in twins yet");
  EXPECT_EQ(twinError(R"(
    %0 = llvm.mlir.constant(1 : i32) : i32
    %1 = llvm.atomicrmw add %y, %0 monotonic : !llvm.ptr<1>, i32)"),
            "does not support atomicrmw in checked twins yet");
}

} // namespace
} // namespace weft
