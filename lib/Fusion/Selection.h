//===- Selection.h - The steps of weft-select-kernels -----------*- C++ -*-===//

#ifndef WEFT_LIB_FUSION_SELECTION_H
#define WEFT_LIB_FUSION_SELECTION_H

#include "weft/Analysis/KernelLibrary.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace weft {

/// Why ops are claimed or left to kernels, each sentence once.
class ChoiceLog {
public:
  /// Counts a sentence about `op`, which begins with its name.
  void add(mlir::Operation *op, const llvm::Twine &what);
  /// Emits a remark for each sentence, where it was true first.
  void report() const;

private:
  struct Choice {
    mlir::Location first;
    unsigned count;
  };
  llvm::MapVector<std::string, Choice, std::map<std::string, unsigned>> choices;
};

/// Parts that joined products, and those that something kept out.
struct MergeCounts {
  unsigned merged = 0, missed = 0;
};

/// Which parts may join products, as the options of the pass say.
struct MergeOptions {
  bool epilogues = true; // more than a bias
  bool fast = false;     // what is rounded in between too
};

/// Merges each product with what those of the library do themselves: into a
/// `weft.gemm`, or, if that is a bias alone, into a `weft.matmul`.
MergeCounts mergeProducts(ProgramOp program, const KernelLibrary &library,
                          MergeOptions options, ChoiceLog &log);

/// Lets the adjoint of gelu take low values where its gradient is that of a low
/// product and its result is rounded: what it gives to others is rounded too.
void narrowGeluGradients(ProgramOp program);

} // namespace weft

#endif // WEFT_LIB_FUSION_SELECTION_H
