//===- CompiledKernels.h - Kernels of a text, ready to run ------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_LOWERING_COMPILEDKERNELS_H
#define WEFT_TEST_UNIT_LOWERING_COMPILEDKERNELS_H

#include "weft/Interp/Interp.h"
#include "weft/Weft/Weft.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace weft {

/// Targets of all processor levels.
inline constexpr const char *kLevels[] = {"cpu:x86-64-v2", "cpu:x86-64-v3",
                                          "cpu"};

/// The bytes of the values, as a buffer holds them.
template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

/// How a kernel is run.
struct RunStyle {
  size_t misalignment = 0; // bytes that every buffer is off a 64-byte boundary
  bool manyParts = false;  // cut the range as finely as allowed
};

/// The programs of a text, fused and compiled for `target` in this process.
class CompiledKernels {
public:
  /// Fails the current test and is not `ok` if anything goes wrong.
  CompiledKernels(const std::string &text, const std::string &target = "cpu");
  ~CompiledKernels();

  bool ok() const { return isOk; }
  std::vector<KernelOp> kernels();
  /// Runs a kernel on the bytes of its inputs; returns its outputs' bytes.
  std::vector<std::string>
  run(KernelOp kernel, const std::vector<std::string> &inputs, RunStyle style);
  /// Runs the program of the text, which has one, on the bytes of its inputs;
  /// returns the bytes of its outputs.
  std::vector<std::string> runProgram(const std::vector<std::string> &inputs,
                                      RunStyle style = {});
  /// The results of the kernel in the interpreter, with doubles.
  std::vector<Tensor> interpret(KernelOp kernel,
                                const std::vector<Tensor> &inputs);
  size_t objectBytes() const { return numObjectBytes; }

private:
  void compile(const std::string &target);
  std::vector<std::string> runOp(mlir::Operation *op,
                                 const std::vector<std::string> &operands,
                                 RunStyle style);

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<int64_t> extents; // ranges of the kernels
  size_t numObjectBytes = 0;
  bool isOk = false;
};

/// Memory image of a tensor, and back.
std::string toBytes(const Tensor &tensor);
Tensor fromBytes(mlir::RankedTensorType type, const std::string &bytes);

} // namespace weft

#endif // WEFT_TEST_UNIT_LOWERING_COMPILEDKERNELS_H
