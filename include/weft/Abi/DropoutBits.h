//===- DropoutBits.h - Stored dropout bits of attention ---------*- C++ -*-===//
//
// The forward pass of attention may store which scores dropout keeps, so that
// the backward pass draws no random numbers. A score has one bit: 1 if it is
// kept. Bits of pairs that the mask hides, and of padding, are undefined.
//
//   words  i32[B, H, query tiles, key tiles, 32]
//   tile   16 queries by 64 keys; queries and keys are padded to multiples of
//          64
//
// A word belongs to a lane of a warp: lane 4 g + t has the scores that it has
// in a product of matrices (kernels/cuda/LowTiles.h), so a warp reads or writes
// a tile in one access, and no lane has to shift bits.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_DROPOUTBITS_H
#define WEFT_ABI_DROPOUTBITS_H

#include <stdint.h>

namespace weft {

/// Sizes of a tile.
constexpr int64_t kBitQueries = 16, kBitKeys = 64, kBitWords = 32;

/// Tiles along the queries of a head, and along its keys.
constexpr int64_t bitQueryTiles(int64_t queries) {
  return (queries + 63) / 64 * (64 / kBitQueries);
}
constexpr int64_t bitKeyTiles(int64_t keys) {
  return (keys + kBitKeys - 1) / kBitKeys;
}

/// The place of a score's bit: a word of the head and a bit of the word.
struct BitPlace {
  int64_t word;
  int bit;
};

/// `keys`: of the head.
constexpr BitPlace findBit(int64_t query, int64_t key, int64_t keys) {
  const int64_t tile = query / kBitQueries * bitKeyTiles(keys) + key / kBitKeys;
  const int64_t lane = 4 * (query % 8) + key % 8 / 2;
  return {tile * kBitWords + lane,
          static_cast<int>(4 * (key % kBitKeys / 8) + 2 * (query % 16 / 8) +
                           key % 2)};
}

} // namespace weft

#endif // WEFT_ABI_DROPOUTBITS_H
