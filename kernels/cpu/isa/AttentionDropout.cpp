//===- AttentionDropout.cpp - Keep factors of a tile of probabilities -----===//

#include "AttentionTiles.h"

namespace weft {
namespace WEFT_ISA {
namespace {

/// Random numbers of `blocks` blocks of a row, 4 each. When the low word of the
/// block number does not overflow, its high word is constant and the loop
/// vectorises.
void fillNumbers(const AttentionHead &h, uint64_t first, int64_t blocks,
                 uint32_t *to) {
  PhiloxKey key = {h.keyLow, h.keyHigh};
  uint32_t low = static_cast<uint32_t>(first);
  uint32_t high = static_cast<uint32_t>(first >> 32);
  uint32_t rowLow = static_cast<uint32_t>(h.row);
  uint32_t rowHigh = static_cast<uint32_t>(h.row >> 32);
  for (int64_t b = 0; b < blocks; ++b) {
    uint32_t at = low + static_cast<uint32_t>(b);
    PhiloxBlock block =
        philoxRounds(key, at, high + (at < low ? 1 : 0), rowLow, rowHigh);
    for (int lane = 0; lane < 4; ++lane)
      to[4 * b + lane] = block.lane[lane];
  }
}

} // namespace

void fillKeepFactors(const AttentionHead &h, int64_t queryBegin, int64_t rows,
                     int64_t keyBegin, int64_t keyCount, float *rowsOfNumbers,
                     float *keep) {
  uint32_t numbers[kKeepRow];
  for (int64_t i = 0; i < rows; ++i) {
    uint64_t element = h.elementBase +
                       static_cast<uint64_t>(queryBegin + i) * h.keys +
                       keyBegin;
    int64_t skip = element % 4;
    fillNumbers(h, element / 4, (skip + keyCount + 3) / 4, numbers);
    for (int64_t j = 0; j < keyCount; ++j)
      rowsOfNumbers[i * kKeepRow + j] =
          philoxKeeps(numbers[skip + j], h.threshold) ? h.keepScale : 0.0f;
  }
  transpose(rowsOfNumbers, kKeepRow, rows, keyCount, 1.0f, keep, kQueryTile);
}

} // namespace WEFT_ISA
} // namespace weft
