//===- CudaTest.cpp - PTX and machine code for CUDA devices ---------------===//

#include "weft/Lowering/Cuda/Cuda.h"
#include "../Formats/CubinBuilder.h"
#include "weft/Formats/Digest.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

using namespace mlir;

namespace weft {
namespace {

const char *const kKernels = R"(
gpu.module @kernels {
  llvm.func @k_1(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.load %x : !llvm.ptr<1> -> f32
    llvm.store %0, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}
)";

/// A module and the messages about it.
struct Input {
  explicit Input(const char *text) {
    DialectRegistry registry;
    registry.insert<WeftDialect>();
    registerLoweringCudaModels(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->printOpOnDiagnostic(false);
    handler = std::make_unique<ScopedDiagnosticHandler>(
        context.get(), [this](Diagnostic &diagnostic) {
          message += diagnostic.str();
          for (Diagnostic &note : diagnostic.getNotes())
            message += "; " + note.str();
          return success();
        });
    module = parseSourceString<ModuleOp>(text, context.get());
  }

  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<ScopedDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;
  std::string message;
};

CudaTarget parse(const char *text) {
  std::string error;
  return *CudaTarget::parse(text, error);
}

/// A folder in place of the toolkit, as long as it lives.
struct FakeToolkit {
  FakeToolkit() : folder(testing::TempDir() + "/weft-cuda-test") {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "/bin");
    if (const char *value = std::getenv("WEFT_CUDA_HOME"))
      before = value;
    setenv("WEFT_CUDA_HOME", folder.c_str(), 1);
  }
  ~FakeToolkit() {
    if (before)
      setenv("WEFT_CUDA_HOME", before->c_str(), 1);
    else
      unsetenv("WEFT_CUDA_HOME");
    std::filesystem::remove_all(folder);
  }
  /// Makes ptxas a script.
  void setPtxas(const char *script) const {
    std::string ptxas = folder + "/bin/ptxas";
    std::ofstream(ptxas) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(ptxas, std::filesystem::perms::owner_all);
  }
  std::string folder;
  std::optional<std::string> before;
};

/// Machine code of sm_90 with the kernel k_1, of 40 registers and 256 threads,
/// which keeps so many bytes in memory.
std::string machineCode(uint32_t localBytes = 0) {
  test::CubinBuilder builder;
  auto note = [&](uint8_t kind, uint32_t symbol, uint32_t value) {
    return builder.note(kind, builder.pack(symbol, value));
  };
  builder.sections[4].content = note(0x2f, 1, 40) + note(0x11, 1, localBytes) +
                                note(0x12, 1, localBytes) + note(0x2f, 2, 255) +
                                note(0x2f, 3, 8);
  std::string code = builder.build();
  for (size_t at = 0; (at = code.find("one", at)) != std::string::npos;)
    code.replace(at, 3, "k_1");
  return code;
}

/// Writes machine code with the PTX behind it.
void setCopyingPtxas(const FakeToolkit &toolkit) {
  const std::string path = toolkit.folder + "/machine-code";
  std::ofstream(path, std::ios::binary) << machineCode();
  toolkit.setPtxas(("cat '" + path + "' \"$5\" > \"$4\"").c_str());
}

TEST(Cuda, NamesOfTargets) {
  for (const char *chip : {"sm_80", "sm_90", "sm_100"})
    EXPECT_EQ(parse((std::string("cuda:") + chip).c_str()).chip, chip);
  std::string error;
  EXPECT_TRUE(failed(CudaTarget::parse("cuda:sm_70", error)));
  EXPECT_EQ(error, "expects the target cuda:sm_80, cuda:sm_90 or cuda:sm_100, "
                   "but got cuda:sm_70");
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

//===----------------------------------------------------------------------===//
// Twins
//===----------------------------------------------------------------------===//

bool contains(const std::vector<char> &object, const std::string &text) {
  return std::string(object.begin(), object.end()).find(text) !=
         std::string::npos;
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

// What is in memory with one block as well stays there, and ptxas decides.
TEST(Cuda, RegistersThatStayInMemory) {
  int runs = 0;
  std::string code = assembleUntil("no such text", runs);
  EXPECT_EQ(runs, 7);
  EXPECT_EQ(code.find(".minnctapersm"), std::string::npos);
}

TEST(Cuda, TwinsNameTheirMachineCode) {
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

/// The message of a kernel whose twin cannot be.
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

TEST(Cuda, TwinsThatCannotBe) {
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
