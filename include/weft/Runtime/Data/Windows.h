//===- Windows.h - Which data row a training row reads ----------*- C++ -*-===//
//
// Rows are numbered from the start of training: row g reads data row g mod N
// in order, or the (g mod N)-th entry of a permutation of epoch g / N that is
// a function of the seed alone. Nothing is stored, so a resumed run needs only
// the number of rows that were read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_WINDOWS_H
#define WEFT_RUNTIME_DATA_WINDOWS_H

#include <cstdint>

namespace weft {

/// A permutation of 0 .. size-1 that is keyed by (seed, epoch): a balanced
/// Feistel network of eight Philox4x32-10 rounds over the smallest 2^(2h) >=
/// size, walked along its cycle until the value is below size.
class Permutation {
public:
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch);

  uint64_t operator()(uint64_t index) const;

private:
  uint64_t encrypt(uint64_t value) const;

  uint64_t size;
  uint64_t seed;
  uint64_t epoch;
  unsigned halfBits;
};

/// Maps training rows to data rows.
class RowOrder {
public:
  RowOrder() = default;
  RowOrder(int64_t rows, bool shuffle, uint64_t seed)
      : rows(rows), shuffle(shuffle), seed(seed) {}

  /// The data row that training row `row` reads.
  int64_t dataRow(int64_t row) const;

private:
  int64_t rows = 1;
  bool shuffle = false;
  uint64_t seed = 0;
};

/// Windows of a token file: window n is tokens n*T .. n*T+T.
inline int64_t numWindows(int64_t numTokens, int64_t seq) {
  return numTokens < 1 ? 0 : (numTokens - 1) / seq;
}

} // namespace weft

#endif // WEFT_RUNTIME_DATA_WINDOWS_H
