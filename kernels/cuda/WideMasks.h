//===- WideMasks.h - Dropout of wide tiles ----------------------*- C++ -*-===//
//
// Which scores of a thread in AttentionWide.cu dropout keeps.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_WIDEMASKS_H
#define WEFT_KERNELS_CUDA_WIDEMASKS_H

#include "AttentionParts.h"

namespace weft::cuda {

/// A bit for each score of a thread: of kOwn rows side by side, and of kWalk
/// columns, each 16 behind the last. Rows are queries and columns keys, or the
/// other way around.
template <int kOwn, int kWalk, bool kRowsAreKeys> struct KeptScores {
  static constexpr int kBlocks = kOwn * kWalk / 4;
  static_assert(kOwn % 4 == 0 && 4 % kWalk == 0 && kBlocks <= 8,
                "scores that are no whole blocks, or more than bits");
  uint32_t bits = ~0u;

  /// `row` and `column` are the position of the thread's first score.
  template <typename Rules>
  WEFT_MEMBER void draw(const Rules &rules, int row, int column) {
    if constexpr (Rules::drops)
      bits = !rules.hasWholeBlocks() ? drawOneByOne(rules, row, column)
             : kRowsAreKeys          ? drawByKeys(rules, row, column)
                                     : drawByQueries(rules, row, column);
  }
  WEFT_MEMBER bool keeps(int i, int j) const { return bits >> place(i, j) & 1; }

private:
  /// Of keys side by side, the four of a block follow each other.
  WEFT_MEMBER static int place(int i, int j) {
    return kRowsAreKeys ? (i / 4 * kWalk + j) * 4 + i % 4 : i * kWalk + j;
  }

  template <typename Rules>
  WEFT_MEMBER static uint32_t drawOneByOne(const Rules &rules, int row,
                                           int column) {
    uint32_t kept = 0;
#pragma unroll 1
    for (int n = 0; n < kOwn * kWalk; ++n) {
      int i = n / kWalk, own = row + i, walk = column + 16 * (n % kWalk);
      bool keeps =
          kRowsAreKeys ? rules.keeps(walk, own) : rules.keeps(own, walk);
      kept |= keeps ? 1u << place(i, n % kWalk) : 0u;
    }
    return kept;
  }

  /// A thread has whole blocks.
  template <typename Rules>
  WEFT_MEMBER static uint32_t drawByKeys(const Rules &rules, int row,
                                         int column) {
    uint32_t kept = 0;
#pragma unroll
    for (int b = 0; b < kOwn / 4; ++b)
      kept |= rules.template keepBits<kWalk>(column, row + 4 * b, 16, 0)
              << (4 * kWalk * b);
    return kept;
  }

  /// Four lanes share the keys of a Philox block: each lane computes one of
  /// four blocks for all of them.
  template <typename Rules>
  WEFT_MEMBER static uint32_t drawByQueries(const Rules &rules, int row,
                                            int column) {
    constexpr uint32_t kBits = 0x11111111u; // a bit of each block
    int mine = laneIndex() % 4;
    uint32_t own = rules.template keepBits<kBlocks>(
        row + mine / kWalk, column - mine + 16 * (mine % kWalk), 4 / kWalk, 0);
    uint32_t kept = 0;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      kept |= (shuffleFrom(own, laneIndex() - mine + e) >> mine & kBits) << e;
    return kept;
  }
};

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_WIDEMASKS_H
