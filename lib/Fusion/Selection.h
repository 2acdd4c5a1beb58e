//===- Selection.h - The steps of weft-select-kernels -----------*- C++ -*-===//

#ifndef WEFT_LIB_FUSION_SELECTION_H
#define WEFT_LIB_FUSION_SELECTION_H

#include "weft/Analysis/KernelLibrary.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace weft {

/// Collects the reasons why ops are claimed or left to kernels, each once.
class ChoiceLog {
public:
  /// Counts a sentence about `op`, which begins with its name.
  void add(mlir::Operation *op, const llvm::Twine &what);
  /// Emits a remark for each sentence, at the first op that it was added for.
  void report() const;

private:
  struct Choice {
    mlir::Location first;
    unsigned count;
  };
  llvm::MapVector<std::string, Choice, std::map<std::string, unsigned>> choices;
};

/// The number of parts merged into products, and of parts not merged.
struct MergeCounts {
  unsigned merged = 0, missed = 0;
};

/// The parts that may be merged into products, by the options of the pass.
struct MergeOptions {
  bool epilogues = true; // more than a bias
  bool fast = false;     // also across a rounding
};

/// Merges each product with the epilogues that the library supports: into a
/// `weft.gemm`, or, if only a bias is merged, into a `weft.matmul`.
MergeCounts mergeProducts(ProgramOp program, const KernelLibrary &library,
                          MergeOptions options, ChoiceLog &log);

/// Makes the adjoint of gelu a low-precision op if its gradient comes from a
/// low-precision product and its result is rounded. Its other users then also
/// read a rounded result.
void narrowGeluGradients(ProgramOp program);

} // namespace weft

#endif // WEFT_LIB_FUSION_SELECTION_H
