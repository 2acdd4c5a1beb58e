//===- OneDnnBlocks.h - Scratch memory of oneDNN ----------------*- C++ -*-===//
//
// The matrix products of oneDNN 2.6 for AVX-512 copy blocks of A and B and keep
// the sums of a block of C. The blocks depend only on shape and threads, as in
// its source (src/cpu/x64/matmul/brgemm_matmul_utils.cpp); only for tiles (AMX)
// it queries the processor. Plain arithmetic, the same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_ONEDNNBLOCKS_H
#define WEFT_ABI_ONEDNNBLOCKS_H

#include "weft/Abi/Executable.h"
#include "weft/Abi/Records.h"

#include <algorithm>

namespace weft {

inline int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
inline int64_t countPieces(int64_t size, int64_t piece) {
  return size / piece + (size % piece != 0);
}
inline bool isPowerOfTwo(int64_t value) { return (value & (value - 1)) == 0; }

/// A block of C that one thread computes at a time.
struct OneDnnBlock {
  int64_t rows, columns;
};

/// The largest block.
constexpr OneDnnBlock kLargestOneDnnBlock = {256, 1024};

/// How oneDNN cuts a product, apart from the block, which depends on the
/// threads.
struct OneDnnProduct {
  const WeftGemmRecord &s;
  bool isLow, copiesA, copiesB;
  int64_t size, lanes; // bytes of an element, elements of 64 bytes
  int64_t depth;       // of a block of A and B

  explicit OneDnnProduct(const WeftGemmRecord &s)
      : s(s), isLow(s.dtype != WEFT_F32), size(isLow ? 2 : 4),
        lanes(64 / size) {
    depth = std::min<int64_t>(s.k, s.k > 1024 && !s.transA ? 1024 : 512);
    bool isFarApart = isLow && s.k >= 4096 && isPowerOfTwo(s.k);
    copiesA = s.transA || (isFarApart && s.m >= 1024);
    copiesB = isLow || s.transB || (s.n > 256 && isPowerOfTwo(s.n));
  }

  /// Scratch bytes of one thread for blocks of at most that size: the copies,
  /// the sums if a block of C is written more than once, and lists.
  int64_t threadBytes(OneDnnBlock most) const {
    int64_t rows = std::min(s.m, most.rows), row = roundUp(depth, lanes);
    int64_t columns = copiesA ? std::min(roundUp(s.n, 64), most.columns) : 64;
    bool keepsSums = s.k > depth && (s.accumulate || s.dtypeC != WEFT_F32);
    bool isPadded = row >= 512 && isPowerOfTwo(row);
    return 1024 + (copiesA ? rows * (row + isPadded * lanes) * size : 0) +
           (copiesB ? 64 * row * size : 0) + keepsSums * rows * columns * 4;
  }
};

/// How far `work` is from a multiple of `threads`, as oneDNN counts it.
inline float unevenness(int64_t work, int64_t threads) {
  int64_t over = work % threads, under = threads - over;
  return static_cast<float>(work < threads ? under : std::min(under, over)) /
         threads;
}

/// The block that oneDNN chooses for that many threads if it copies A and does
/// not split K among threads: the first of the most even blocks.
inline OneDnnBlock chooseBlock(const OneDnnProduct &product, int64_t threads) {
  const WeftGemmRecord &s = product.s;
  int64_t width = std::min<int64_t>(s.n, 64), across = countPieces(s.n, width);
  const int64_t mostChunks = std::min<int64_t>(16, across);
  const bool isSmall = threads > s.batch * across;
  if (isSmall && s.batch > 1 && (s.m <= 40 || (s.transA && s.m <= 512))) {
    width = std::min<int64_t>(s.n, 32);
    across = countPieces(s.n, width);
  }
  const float lastOfK = unevenness(s.k, product.depth);
  float best = 1;
  OneDnnBlock block = kLargestOneDnnBlock;
  for (int64_t chunk = mostChunks; chunk >= 1; --chunk)
    for (int64_t rows = std::min<int64_t>(s.m, 256),
                 least = std::min<int64_t>(s.m, isSmall ? 16 : 32);
         rows >= least; --rows) {
      int64_t down = countPieces(s.m, rows), right = countPieces(across, chunk);
      float uneven = unevenness(down * right * s.batch, threads) +
                     static_cast<float>(rows * down % s.m) / s.m;
      uneven += (static_cast<float>(right) * chunk - across) / across;
      uneven = (uneven + lastOfK) / 5;
      if (uneven >= best)
        continue;
      best = uneven, block = {rows, chunk * width};
      if (best == lastOfK / 5)
        return block;
    }
  return block;
}

/// Scratch bytes of a product that runs as a whole on up to `threads` threads.
/// The blocks for many threads are not computed: the largest block is assumed.
inline int64_t oneDnnBytes(const WeftGemmRecord &s, int64_t threads) {
  constexpr int64_t few = 8;
  OneDnnProduct product(s);
  if (!product.copiesA || threads > few)
    return threads * product.threadBytes(kLargestOneDnnBlock);
  int64_t bytes = 0;
  for (int64_t t = 1; t <= threads; ++t)
    bytes = std::max(bytes, t * product.threadBytes(chooseBlock(product, t)));
  return bytes;
}

} // namespace weft

#endif // WEFT_ABI_ONEDNNBLOCKS_H
