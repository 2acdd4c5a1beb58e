//===- AttentionDropout.cpp - Keep factors of a tile of probabilities -----===//

#include "AttentionTiles.h"

namespace weft {
namespace WEFT_ISA {

//===- Philox4x32-10 by whole vectors -------------------------------------===//
//
// The numbers of Philox.h, a vector of blocks at a time. A word of a block
// occupies the low half of a 64-bit lane. The only vector multiplication for it
// takes its operands there and leaves both halves of the product in the lane.
// The high half of a word is never read.
//
//===----------------------------------------------------------------------===//

/// Blocks of one vector, and of the two that are made together.
constexpr int kVectorBlocks = kLanes / 2;
constexpr int64_t kPhiloxBlocks = 2 * kVectorBlocks;

typedef uint64_t WordVec __attribute__((vector_size(kLanes * 4)));

/// Products of the low halves.
WEFT_INLINE WordVec multiplyLow(WordVec a, WordVec b) {
#if defined(__AVX512F__)
  return (WordVec)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (WordVec)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (WordVec)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
}

/// Lane 0 of a, lane 0 of b, lane 1 of a and so on: the lower half and the
/// upper half of that.
WEFT_INLINE WordVec interleaveLow(WordVec a, WordVec b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#else
  return __builtin_shufflevector(a, b, 0, 2);
#endif
}
WEFT_INLINE WordVec interleaveHigh(WordVec a, WordVec b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
  return __builtin_shufflevector(a, b, 1, 3);
#endif
}

/// The words of a vector of blocks: before the rounds their counters, then
/// their numbers.
struct PhiloxWords {
  WordVec word[4];
};

/// One lane per block: its number in the row.
WEFT_INLINE PhiloxWords countersOf(uint64_t row, WordVec blocks) {
  const WordVec zero = {};
  return {{blocks, blocks >> 32, zero + row, zero + (row >> 32)}};
}

WEFT_INLINE void philoxRound(PhiloxWords &c, WordVec key0, WordVec key1) {
  const WordVec zero = {};
  WordVec product0 = multiplyLow(c.word[0], zero + 0xD2511F53u);
  WordVec product1 = multiplyLow(c.word[2], zero + 0xCD9E8D57u);
  c.word[0] = (product1 >> 32) ^ c.word[1] ^ key0;
  c.word[2] = (product0 >> 32) ^ c.word[3] ^ key1;
  c.word[1] = product1;
  c.word[3] = product0;
}

/// All rounds on two vectors, each of which hides the latency of the other.
WEFT_INLINE void philoxRounds(PhiloxKey key, PhiloxWords &a, PhiloxWords &b) {
  const WordVec zero = {};
  uint32_t k0 = key.low, k1 = key.high;
  for (int round = 0; round < 10; ++round) {
    philoxRound(a, zero + k0, zero + k1);
    philoxRound(b, zero + k0, zero + k1);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

/// Numbers in the order of their elements: two vectors of them.
WEFT_INLINE void orderNumbers(const PhiloxWords &c, IntVec numbers[2]) {
  const WordVec low = WordVec{} + 0xFFFFFFFFu;
  WordVec front = (c.word[0] & low) | (c.word[1] << 32);
  WordVec back = (c.word[2] & low) | (c.word[3] << 32);
  numbers[0] = (IntVec)interleaveLow(front, back);
  numbers[1] = (IntVec)interleaveHigh(front, back);
}

/// The numbers of kPhiloxBlocks blocks of a row, in order.
WEFT_INLINE void philoxVectors(PhiloxKey key, uint64_t row, uint64_t first,
                               IntVec numbers[4]) {
  WordVec blocks;
  for (int i = 0; i < kVectorBlocks; ++i)
    blocks[i] = first + static_cast<uint64_t>(i);
  PhiloxWords a = countersOf(row, blocks);
  PhiloxWords b = countersOf(row, blocks + kVectorBlocks);
  philoxRounds(key, a, b);
  orderNumbers(a, numbers);
  orderNumbers(b, numbers + 2);
}

/// Dropout of a vector: philoxKeeps() ? value : 0.
WEFT_INLINE Vec keepOrZero(IntVec numbers, uint32_t threshold, Vec value) {
  typedef uint32_t UnsignedVec __attribute__((vector_size(kLanes * 4)));
  // 24 bits each, so that signed comparison is right.
  IntVec upper = (IntVec)((UnsignedVec)numbers >> 8);
  return upper >= splatInt(static_cast<int32_t>(threshold)) ? value
                                                            : splat(0.0f);
}

//===- Keep factors -------------------------------------------------------===//

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
