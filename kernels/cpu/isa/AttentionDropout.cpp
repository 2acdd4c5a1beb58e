//===- AttentionDropout.cpp - Keep factors of a tile of probabilities -----===//

#include "AttentionTiles.h"
#include "PhiloxVectors.h"

namespace weft {
namespace WEFT_ISA {
namespace {

/// Room for the numbers of whole vectors that cover a row of a tile.
constexpr int64_t kNumbersOfRow = kKeyTile + 4 * kPhiloxBlocks;

/// Numbers of the blocks that cover elements [element, element + count) of the
/// row, from the first of these blocks on.
void fillNumbers(const AttentionHead &h, uint64_t element, int64_t count,
                 float *to) {
  int64_t end = static_cast<int64_t>(element % 4) + count;
  IntVec numbers[4];
  for (int64_t at = 0; at < end; at += 4 * kPhiloxBlocks) {
    philoxVectors({h.keyLow, h.keyHigh}, h.row,
                  element / 4 + static_cast<uint64_t>(at / 4), numbers);
    for (int i = 0; i < 4; ++i)
      store(to + at + i * kLanes, (Vec)numbers[i]);
  }
}

/// Any element: rows of numbers, which become factors and are turned around.
void fillByRows(const AttentionHead &h, uint64_t first, int64_t rows,
                int64_t keyCount, float *rowsOfNumbers, float *keep) {
  float numbers[kNumbersOfRow];
  for (int64_t i = 0; i < rows; ++i) {
    uint64_t element = first + static_cast<uint64_t>(i * h.keys);
    fillNumbers(h, element, padded(keyCount), numbers);
    for (int64_t j = 0; j < keyCount; j += kLanes)
      store(rowsOfNumbers + i * kKeepRow + j,
            keepOrZero((IntVec)load(numbers + element % 4 + j), h.threshold,
                       splat(h.keepScale)));
  }
  transpose(rowsOfNumbers, kKeepRow, rows, keyCount, 1.0f, keep, kQueryTile);
}

/// Rows that begin with a block: a lane is a query, so that the four words of
/// its blocks are the factors of four keys, where they belong.
void fillByQueries(const AttentionHead &h, uint64_t first, int64_t keyCount,
                   float *keep) {
  const WordVec low = WordVec{} + 0xFFFFFFFFu;
  const uint64_t perRow = static_cast<uint64_t>(h.keys / 4);
  WordVec rowStarts;
  for (int i = 0; i < kVectorBlocks; ++i)
    rowStarts[i] = static_cast<uint64_t>(2 * i) * perRow;
  for (int64_t i = 0; i < kQueryTile; i += kLanes)
    for (int64_t j = 0; j < keyCount; j += 4) {
      WordVec blocks =
          rowStarts + (first / 4 + static_cast<uint64_t>(i) * perRow +
                       static_cast<uint64_t>(j / 4));
      PhiloxWords even = countersOf(h.row, blocks);
      PhiloxWords odd = countersOf(h.row, blocks + perRow);
      philoxRounds({h.keyLow, h.keyHigh}, even, odd);
      for (int64_t k = 0; k < 4; ++k)
        store(keep + (j + k) * kQueryTile + i,
              keepOrZero((IntVec)((even.word[k] & low) | (odd.word[k] << 32)),
                         h.threshold, splat(h.keepScale)));
    }
}

} // namespace

void fillKeepFactors(const AttentionHead &h, int64_t queryBegin, int64_t rows,
                     int64_t keyBegin, int64_t keyCount, float *rowsOfNumbers,
                     float *keep) {
  uint64_t first =
      h.elementBase + static_cast<uint64_t>(queryBegin) * h.keys + keyBegin;
  // Queries past the last one get factors that nobody reads.
  if (first % 4 == 0 && h.keys % 4 == 0 && rows > kQueryTile / 2)
    fillByQueries(h, first, keyCount, keep);
  else
    fillByRows(h, first, rows, keyCount, rowsOfNumbers, keep);
}

} // namespace WEFT_ISA
} // namespace weft
