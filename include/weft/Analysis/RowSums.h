//===- RowSums.h - Sums over rows in the kernels of the rows ----*- C++ -*-===//
//
// A block of a device works on the rows of a group in turn and adds them up in
// registers. Fusion and the split of long sums choose groups that a block can
// add up; bits depend on these numbers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_ROWSUMS_H
#define WEFT_ANALYSIS_ROWSUMS_H

#include "llvm/Support/MathExtras.h"

namespace weft {

/// Elements of a row that a thread takes together.
inline constexpr int64_t kRowChunk = 4;
/// Rows of a block, if a warp has a row.
inline constexpr int64_t kRowsPerBlock = 8;
/// Rows that a thread adds up in f32.
inline constexpr int64_t kRowsPerThread = 16;
/// Totals of all sums that a thread can keep in registers.
inline constexpr int64_t kMostTotals = 96;

/// Threads that share a row of that many elements.
inline int64_t getRowThreads(int64_t elements) {
  if (elements <= 1024)
    return 32;
  return elements <= 16384 ? 256 : 512;
}

/// Rows that a block works on at once.
inline int64_t getRowsAtOnce(int64_t elements) {
  return getRowThreads(elements) == 32 ? kRowsPerBlock : 1;
}

/// Rows that a block can add up.
inline int64_t getMostSummedRows(int64_t elements) {
  return kRowsPerThread * getRowsAtOnce(elements);
}

/// Totals of one sum in each thread.
inline int64_t getTotalsPerThread(int64_t elements) {
  int64_t chunks = llvm::divideCeil(elements, kRowChunk);
  return llvm::divideCeil(chunks, getRowThreads(elements)) * kRowChunk;
}

} // namespace weft

#endif // WEFT_ANALYSIS_ROWSUMS_H
