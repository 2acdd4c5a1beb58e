//===- Cpu.h - Object code for the CPU --------------------------*- C++ -*-===//
//
// The last step of compilation: a module of lowered kernels and plan programs
// becomes relocatable objects that define `weft_tables` (PackedTables.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_CPU_CPU_H
#define WEFT_LOWERING_CPU_CPU_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

class TableTarget;

/// The CPU as a target of the program tables. Its kernels are the functions of
/// `module` after `weft-lower-to-cpu`; before that pass there are none.
std::unique_ptr<TableTarget> createCpuRoutines(mlir::ModuleOp module);

/// The processor that code is generated for.
struct CpuTarget {
  std::string cpu;      // LLVM's name: "znver4", "x86-64-v3"
  std::string features; // LLVM's list: "+avx2,+fma,..."

  /// "cpu": this machine; "cpu:x86-64-v2", "-v3", "-v4": a microarchitecture
  /// level. Fails with a message in `error` for anything else.
  static llvm::FailureOr<CpuTarget> parse(llvm::StringRef text,
                                          std::string &error);
  bool hasFma() const;
  /// Names of the features that executables check when they start.
  std::vector<std::string> getRequiredFeatures() const;
};

/// LLVM IR of the module, which `weft-lower-to-cpu` has lowered.
llvm::FailureOr<std::string> emitLlvmIr(mlir::ModuleOp module,
                                        const CpuTarget &target);

/// The object file; equal modules and targets give equal bytes.
llvm::FailureOr<std::vector<char>> emitObject(mlir::ModuleOp module,
                                              const CpuTarget &target);

/// The object file in two halves: the kernel functions, and the tables, which
/// refer to them by name. The kernel object depends on the kernels alone.
llvm::FailureOr<std::vector<char>> emitKernelObject(mlir::ModuleOp module,
                                                    const CpuTarget &target);
llvm::FailureOr<std::vector<char>> emitTableObject(mlir::ModuleOp module,
                                                   const CpuTarget &target);

} // namespace weft

#endif // WEFT_LOWERING_CPU_CPU_H
