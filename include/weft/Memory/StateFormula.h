//===- StateFormula.h - Persistent state against 16P ------------*- C++ -*-===//

#ifndef WEFT_MEMORY_STATEFORMULA_H
#define WEFT_MEMORY_STATEFORMULA_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Compares the persistent state of mixed precision with Adam to the formula
/// 16P: 4P f32 parameters, 2P working copies, 2P low-precision gradients, 8P
/// moments. The differences add up to `stateBytes` - `formulaBytes`.
struct StateFormula {
  /// P: elements of the parameters that are trained.
  int64_t parameters = 0;
  int64_t formulaBytes = 0;
  /// Bytes of all persistent tensors, without alignment.
  int64_t stateBytes = 0;

  struct Difference {
    std::string what;
    int64_t bytes; // more than the formula, or less (negative)
  };
  std::vector<Difference> differences;

  /// A: elements of the activations at the peak.
  int64_t activationElements = 0;
  /// Bytes of other training setups for the same P and A.
  struct Comparison {
    const char *what, *formula;
    int64_t bytes;
  };
  std::vector<Comparison> getComparisons() const;

  llvm::json::Object toJson() const;
};

/// The comparison, if a parameter, its copy or its gradient is f16 or bf16.
std::optional<StateFormula> computeStateFormula(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_MEMORY_STATEFORMULA_H
