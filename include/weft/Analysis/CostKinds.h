//===- CostKinds.h - Kinds of commands in a cost table ----------*- C++ -*-===//
//
// A cost table has rates for kinds of commands. A command that is no launch has
// one kind, its own name: "gemm". A launch has up to three kinds, from the most
// general to the most special one:
//
// - "launch";
// - the iteration space of its kernel: "elementwise", "rows" or "columns";
// - the op whose formula the kernel computes: "rope", "layer_norm", "adamw". It
//   is the first composite op in `weft.computes`. A kernel of primitive ops has
//   none.
//
// A kernel group on a CUDA device has the kinds that all of its kernels share.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_COSTKINDS_H
#define WEFT_ANALYSIS_COSTKINDS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace weft {

class KernelOp;
namespace plan {
class CommandOpInterface;
} // namespace plan

/// The kind of all generated kernels.
inline constexpr llvm::StringLiteral kLaunchKind = "launch";

/// The kinds of a command, from the most general to the most special one.
using CostKindList = llvm::SmallVector<llvm::StringRef, 3>;

/// The kinds of the commands of one module.
class CostKinds {
public:
  explicit CostKinds(mlir::ModuleOp module) : symbols(module) {}

  CostKindList getKinds(plan::CommandOpInterface command);

private:
  CostKindList findKinds(llvm::StringRef symbol);

  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::StringAttr, CostKindList> known;
};

/// Whether a cost table may have rates for `name` besides the names of
/// commands: an iteration space, or an op that can be the formula of a kernel.
/// The weft dialect must be loaded, with the formulas of its ops registered.
bool isKernelCostKind(llvm::StringRef name, mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_ANALYSIS_COSTKINDS_H
