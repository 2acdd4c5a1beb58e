//===- AttentionMask.h - Pairs of query and key that attend -----*- C++ -*-===//

#ifndef WEFT_LAYOUT_ATTENTIONMASK_H
#define WEFT_LAYOUT_ATTENTIONMASK_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace weft {

/// The mask of attention apart from documents: query i, at position
/// p = i + keys - queries, sees a range of keys.
struct AttentionMask {
  /// Tile with which estimates count pairs: the tile of the CPU's kernels
  /// (Abi/CpuWorkspaces.h). A device also has tiles of 128.
  static constexpr int64_t kCostTile = 64;
  /// Operations by which estimates count a random number of dropout, measured
  /// on a Zen 5 with and without dropout. It costs more than in a kernel of its
  /// own (Weft_ElementFlops), since it goes through memory.
  static constexpr double kDrawFlops = 128;

  int64_t queries, keys;
  bool causal;                   // keys up to p
  std::optional<int64_t> window; // W: p - W < key < p + W

  /// Of weft.attention, plan.attention and their adjoints.
  template <typename OpT>
  static AttentionMask get(OpT op, int64_t queries, int64_t keys) {
    return {queries, keys, op.getCausal(), op.getWindow()};
  }

  /// The first key that query i sees, if it sees any.
  int64_t getFirst(int64_t query) const;
  /// The key behind the last one; not above getFirst if it sees none.
  int64_t getEnd(int64_t query) const;
  /// Pairs of a head that kernels compute with tiles of `tile` queries and
  /// keys.
  double countPairs(int64_t tile) const;

  /// Fails with an error on the op if the mask or `softcap` breaks a rule.
  llvm::LogicalResult verify(mlir::Operation *op, bool hasSegments,
                             std::optional<llvm::APFloat> softcap) const;
};

} // namespace weft

#endif // WEFT_LAYOUT_ATTENTIONMASK_H
