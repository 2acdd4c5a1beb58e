//===- RowOrder.h - The order in which a row is added up --------*- C++ -*-===//
//
// Fusion decides how many loops walk a row. The order of additions must not
// follow from that, so it is fixed by the shape of the reduction.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_ROWORDER_H
#define WEFT_ANALYSIS_ROWORDER_H

#include "weft/Analysis/KernelShape.h"

namespace weft {

/// Elements that are added up lane by lane.
inline constexpr int64_t kSumChunk = 16;

/// A row is what reductions run over at the end of the space: its innermost
/// dimensions, joined. Each reduced dimension around it adds more rows.
struct RowOrder {
  int64_t rows = 1, elements = 1;

  /// The order of a row kernel. Loops that cannot keep the order of whole rows
  /// take each step of the innermost loop as a row; only an edited linalg form
  /// has such loops.
  static RowOrder get(const KernelShape &shape);

  /// Chunks that are added up before the next ones; 0 if one block has all.
  int64_t getBlockChunks() const;
  /// Whether loops that cut each row into steps of `lanes` elements can add up
  /// in this order.
  bool allows(int64_t lanes) const;
};

} // namespace weft

#endif // WEFT_ANALYSIS_ROWORDER_H
