//===- LowMasks.h - Heads and dropout of low tiles --------------*- C++ -*-===//
//
// What both directions of AttentionLow.h begin with: a tile of a head on its
// way to shared memory, and which scores of a fragment dropout keeps.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_LOWMASKS_H
#define WEFT_KERNELS_CUDA_LOWMASKS_H

#include "AttentionParts.h"
#include "LowTiles.h"

namespace weft::cuda {

/// Begins to copy rows [begin, begin + kRows) of a head, of which there are
/// `end`.
template <typename Type, int D, int kRows>
WEFT_DEVICE void beginHead(Low *to, const HeadsArgument &tensor, int batch,
                           int head, int begin, int end,
                           const AttentionArguments &a) {
  beginRows<D, kRows>(
      to, rowsOf<Type>(tensor, batch, head) + begin * tensor.strides.row,
      tensor.strides.row, end - begin, a);
}

/// Which elements of a lane's fragment are kept: four bits. Rows are queries
/// from `query` on, columns keys. One lane computes the numbers of a whole
/// block, for itself and its neighbour.
template <typename Rules>
WEFT_DEVICE uint32_t keptByQueries(const Rules &rules, int query, int key) {
  int row = query + fragmentRow(), column = key + fragmentColumn();
  if (!rules.hasWholeBlocks()) {
    uint32_t bits = 0;
#pragma unroll 1
    for (int e = 0; e < 4; ++e)
      bits |= rules.keeps(row + e / 2 * 8, column + e % 2) ? 1u << e : 0u;
    return bits;
  }
  int odd = laneIndex() % 2;
  uint32_t own = rules.keepBits(row + 8 * odd, key + laneIndex() % 4 / 2 * 4);
  uint32_t other = shuffleXor(own, 1);
  uint32_t upper = (odd ? other : own) >> (2 * odd) & 3;
  uint32_t lower = (odd ? own : other) >> (2 * odd) & 3;
  return upper | lower << 2;
}

/// The same where rows are keys and columns queries.
template <typename Rules>
WEFT_DEVICE uint32_t keptByKeys(const Rules &rules, int key, int query) {
  int row = fragmentRow(), column = fragmentColumn();
  uint32_t bits = 0;
  if (!rules.hasWholeBlocks()) {
#pragma unroll 1
    for (int e = 0; e < 4; ++e)
      bits |= rules.keeps(query + column + e % 2, key + row + e / 2 * 8)
                  ? 1u << e
                  : 0u;
    return bits;
  }
  int lane = laneIndex();
  uint32_t own = rules.keepBits(query + lane % 8, key + lane / 8 * 4);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    int from = (row / 4 + e / 2 * 2) * 8 + column + e % 2;
    bits |= (shuffleFrom(own, from) >> (row % 4) & 1) << e;
  }
  return bits;
}

/// Of fragments side by side, four bits each. One after the other: numbers
/// take many registers.
template <int kFragments, bool kRowsAreKeys, typename Rules>
WEFT_DEVICE uint32_t keptOfRow(const Rules &rules, int row, int column) {
  static_assert(kFragments <= 8, "more fragments than bits");
  uint32_t bits = 0;
#pragma unroll 1
  for (int n = 0; n < kFragments; ++n)
    bits |= (kRowsAreKeys ? keptByKeys(rules, row, column + 8 * n)
                          : keptByQueries(rules, row, column + 8 * n))
            << (4 * n);
  return bits;
}

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_LOWMASKS_H
