//===- Windows.cpp - Which data row a training row reads ------------------===//

#include "weft/Runtime/Data/Windows.h"

#include "weft/Abi/Philox.h"

using namespace weft;

/// The Philox stream of shuffling: the hash of its name.
static uint64_t shuffleStream() { return philoxNameHash("weft.shuffle", 12); }

Permutation::Permutation(uint64_t size, uint64_t seed, uint64_t epoch)
    : size(size), seed(seed), epoch(epoch), halfBits(1) {
  while (halfBits < 32 && (uint64_t(1) << (2 * halfBits)) < size)
    ++halfBits;
}

uint64_t Permutation::encrypt(uint64_t value) const {
  const PhiloxKey key = philoxKey(seed, shuffleStream());
  const uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  for (uint32_t round = 0; round < 8; ++round) {
    PhiloxBlock block = philoxRounds(key, uint32_t(right), round,
                                     uint32_t(epoch), uint32_t(epoch >> 32));
    uint64_t mixed = left ^ (block.lane[0] & mask);
    left = right;
    right = mixed;
  }
  return (left << halfBits) | right;
}

uint64_t Permutation::operator()(uint64_t index) const {
  // The domain has fewer than 4 * size values (16 for size < 4), so the cycle
  // comes back below size after few steps.
  uint64_t value = encrypt(index);
  while (value >= size)
    value = encrypt(value);
  return value;
}

int64_t RowOrder::dataRow(int64_t row) const {
  int64_t epoch = row / rows, index = row % rows;
  if (!shuffle)
    return index;
  return int64_t(
      Permutation(uint64_t(rows), seed, uint64_t(epoch))(uint64_t(index)));
}
