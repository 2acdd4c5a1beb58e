//===- CommandNames.h - What people call kernels and commands ---*- C++ -*-===//
//
// The one place that makes readable names: "add+gelu 8x128x512 f32" is the ops
// of a kernel in their order, the sizes it runs over and its element type. The
// symbol in the IR stays a hash of the content, which tables show behind it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_COMMANDNAMES_H
#define WEFT_ANALYSIS_COMMANDNAMES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

#include <string>

namespace weft {

class KernelOp;
namespace plan {
class CommandOpInterface;
} // namespace plan

/// What an op of a kernel computes ("exp", "sum"), or "" for names of values,
/// constants and casts.
std::string getNameInKernel(mlir::Operation &op);

/// "add+layer_norm 8x128x64 bf16->f32": each op once, in the order of the body,
/// without those that only rename or repeat values, and one that has a formula
/// as itself (weft.computes); the sizes of its largest value; the types of its
/// largest input and its first result. More than four are counted.
std::string getKernelName(KernelOp kernel);

/// Arithmetic of a kernel: for each op the operations of an element
/// (ElementFlops.h) times the elements of its widest value, or what its
/// CostOpInterface answers. An op without either is an error.
llvm::FailureOr<double> getKernelFlops(KernelOp kernel);

/// Names of the commands of one module.
class CommandNames {
public:
  explicit CommandNames(mlir::ModuleOp module) : symbols(module) {}

  /// The kernel's name; of another command what it is, the sizes of
  /// the largest buffer it writes (reads, if it writes no more than a row) and
  /// the types: "gemm 8x128x512 by 256 f32".
  std::string getName(plan::CommandOpInterface command);
  /// The name, and the symbol of a generated kernel behind it.
  std::string getNameAndSymbol(plan::CommandOpInterface command);

private:
  KernelOp getKernel(plan::CommandOpInterface command);

  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Operation *, std::string> kernelNames;
};

} // namespace weft

#endif // WEFT_ANALYSIS_COMMANDNAMES_H
