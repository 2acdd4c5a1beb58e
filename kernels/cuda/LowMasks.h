//===- LowMasks.h - Heads and dropout of low tiles --------------*- C++ -*-===//
//
// Helpers that both directions of AttentionLow.h share: copying a tile of a
// head to shared memory, and the dropout bits of the scores of a fragment.
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

/// The dropout bits of neighbouring fragments, four bits of a lane for each; a
/// set bit keeps the element. `row` and `column` are the position of the first
/// fragment: query and key, or the other way around.
template <int kFragments, bool kRowsAreKeys, typename Rules>
WEFT_DEVICE uint32_t keptOneByOne(const Rules &rules, int row, int column) {
  uint32_t bits = 0;
#pragma unroll 1
  for (int i = 0; i < 4 * kFragments; ++i) {
    int own = row + fragmentRow() + i % 4 / 2 * 8;
    int walk = column + i / 4 * 8 + fragmentColumn() + i % 2;
    bool keeps = kRowsAreKeys ? rules.keeps(walk, own) : rules.keeps(own, walk);
    bits |= keeps ? 1u << i : 0u;
  }
  return bits;
}

/// The same where four keys from a multiple of four on have the numbers of one
/// block: each is computed once in a warp. Rows are queries: a block's keys are
/// columns of two lanes, of which the even one has it for the upper rows.
template <int kFragments, typename Rules>
WEFT_DEVICE uint32_t keptByQueries(const Rules &rules, int query, int key) {
  constexpr uint32_t kPairs = 0x33333333u; // two bits of each fragment
  int odd = laneIndex() % 2;
  uint32_t own = rules.template keepBits<kFragments>(
      query + fragmentRow() + 8 * odd, key + laneIndex() % 4 / 2 * 4, 0, 8);
  uint32_t other = shuffleXor(own, 1);
  uint32_t upper = (odd ? other : own) >> (2 * odd) & kPairs;
  uint32_t lower = (odd ? own : other) >> (2 * odd) & kPairs;
  return upper | lower << 2;
}

/// Rows are keys: a block's keys are rows of four lanes. Lane 8 i + j has those
/// of row 4 i and column j.
template <int kFragments, typename Rules>
WEFT_DEVICE uint32_t keptByKeys(const Rules &rules, int key, int query) {
  constexpr uint32_t kBits = 0x11111111u; // a bit of each fragment
  int lane = laneIndex(), row = fragmentRow(), column = fragmentColumn();
  uint32_t own = rules.template keepBits<kFragments>(query + lane % 8,
                                                     key + lane / 8 * 4, 8, 0);
  uint32_t bits = 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    int from = (row / 4 + e / 2 * 2) * 8 + column + e % 2;
    bits |= (shuffleFrom(own, from) >> (row % 4) & kBits) << e;
  }
  return bits;
}

template <int kFragments, bool kRowsAreKeys, typename Rules>
WEFT_DEVICE uint32_t keptOfRow(const Rules &rules, int row, int column) {
  if (!rules.hasWholeBlocks())
    return keptOneByOne<kFragments, kRowsAreKeys>(rules, row, column);
  if constexpr (kRowsAreKeys)
    return keptByKeys<kFragments>(rules, row, column);
  else
    return keptByQueries<kFragments>(rules, row, column);
}

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_LOWMASKS_H
