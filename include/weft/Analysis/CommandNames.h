//===- CommandNames.h - Readable names of kernels and commands --*- C++ -*-===//
//
// The one place that makes readable names. "add+gelu 8x128x512 f32" lists the
// ops of a kernel in order, its iteration sizes and its element type. The
// symbol in the IR remains a content hash; tables show it after the name.
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

/// The name of the computation of an op in a kernel ("exp", "sum"). Empty for
/// ops that only rename values, for constants and for casts.
std::string getNameInKernel(mlir::Operation &op);

/// "add+layer_norm 8x128x64 bf16->f32": the ops, the sizes of the largest
/// value, and the types of the largest input and the largest result. Each op
/// appears once, in body order. Ops that only rename or repeat values are
/// omitted. An op expanded to its formula keeps its own name (weft.computes).
/// Ops after the fourth are only counted.
std::string getKernelName(KernelOp kernel);

/// Arithmetic of a kernel, summed over its ops. An op counts the operations per
/// element (ElementCostOpInterface) times the elements of its widest value, or
/// the answer of its CostOpInterface. An op without either is an error.
llvm::FailureOr<double> getKernelFlops(KernelOp kernel);

/// Names of the commands of one module.
class CommandNames {
public:
  explicit CommandNames(mlir::ModuleOp module) : symbols(module) {}

  /// The kernel's name. For another command, its kind, the sizes of the largest
  /// written buffer and the types: "gemm 8x128x512 by 256 f32". A command that
  /// writes at most a row shows the sizes of its largest read buffer.
  std::string getName(plan::CommandOpInterface command);
  /// The name, followed by the symbol of a generated kernel.
  std::string getNameAndSymbol(plan::CommandOpInterface command);

private:
  KernelOp getKernel(plan::CommandOpInterface command);

  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Operation *, std::string> kernelNames;
};

} // namespace weft

#endif // WEFT_ANALYSIS_COMMANDNAMES_H
