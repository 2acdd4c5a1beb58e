//===- TileTails.h - Products that oneDNN cannot make in tiles --*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_TILETAILS_H
#define WEFT_KERNELS_CPU_TILETAILS_H

#include "weft/Abi/RecordTypes.h"

namespace weft {

/// Whether the kernels of oneDNN 2.6 for tiles of bf16 (AMX) may end the
/// process with SIGILL, or read and write beside the matrices.
///
/// brgemm_matmul.cpp cuts K into blocks of K_blk columns and a tail, which it
/// rounds up to an even number, K_tail. compute_kernel() gives the tile
/// registers the shapes that the kernel of the tail needs where
/// `K_tail != K_blk`. It should also do so in the last rows or columns of a
/// result, where a kernel has other shapes than the one that the registers were
/// set for: `tdpbf16ps` on registers whose shapes do not match is an illegal
/// instruction.
///
/// K_blk is 32, or a multiple of 32 where all whole blocks run as one; K_tail
/// is at most 32. They are equal only for K_blk = 32 and a tail of 31 columns.
/// The smallest such K is 63. Longer ones need a K that is cut for the level 2
/// cache or for threads, which depends on the machine: all of them count here.
inline bool failsInTiles(const WeftGemmRecord &s) {
  constexpr int64_t columns = 32;
  return s.dtype == WEFT_BF16 && s.k > columns && s.k % columns == columns - 1;
}

} // namespace weft

#endif // WEFT_KERNELS_CPU_TILETAILS_H
