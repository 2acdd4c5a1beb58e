//===- CudaInput.h - Modules and toolkits for tests of CUDA -----*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_LOWERING_CUDAINPUT_H
#define WEFT_TEST_UNIT_LOWERING_CUDAINPUT_H

#include "../Formats/CubinBuilder.h"

#include "weft/Lowering/Cuda/Cuda.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <optional>

#include <unistd.h>

namespace weft::test {

inline const char *const kKernels = R"(
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
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect>();
    registerLoweringCudaModels(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    context->printOpOnDiagnostic(false);
    handler = std::make_unique<mlir::ScopedDiagnosticHandler>(
        context.get(), [this](mlir::Diagnostic &diagnostic) {
          message += diagnostic.str();
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            message += "; " + note.str();
          return mlir::success();
        });
    module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  }

  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string message;
};

inline CudaTarget parse(const char *text) {
  std::string error;
  return *CudaTarget::parse(text, error);
}

/// A folder in place of the toolkit, as long as it lives.
struct FakeToolkit {
  FakeToolkit()
      : folder(testing::TempDir() + "/weft-cuda-test-" +
               std::to_string(::getpid())) {
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
inline std::string machineCode(uint32_t localBytes = 0) {
  CubinBuilder builder;
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
inline void setCopyingPtxas(const FakeToolkit &toolkit) {
  const std::string path = toolkit.folder + "/machine-code";
  std::ofstream(path, std::ios::binary) << machineCode();
  toolkit.setPtxas(("cat '" + path + "' \"$5\" > \"$4\"").c_str());
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_LOWERING_CUDAINPUT_H
