//===- CpuWorkspaces.h - Workspaces of routines of the CPU ------*- C++ -*-===//
//
// A routine that needs memory besides its operands gets a workspace: bytes of
// the arena whose contents are undefined before and after its command. The
// compiler allocates workspaces and the routines divide them. Only this file
// computes their sizes, in bytes (for routines of other dialects, their models
// do), from the record of a command and the maximum number of threads of the
// program. Plain arithmetic, the same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CPUWORKSPACES_H
#define WEFT_ABI_CPUWORKSPACES_H

#include "weft/Abi/CpuProducts.h"
#include "weft/Abi/PaddedRows.h"
#include "weft/Abi/RecordTypes.h"

#include <algorithm>

namespace weft {

/// Default maximum number of threads of a program.
constexpr int64_t kDefaultMaxThreads = 16;
/// Largest maximum that the compiler accepts.
constexpr int64_t kMostThreads = 1024;
/// Alignment in bytes of a workspace and of each worker's part of it.
constexpr int64_t kWorkspaceAlignment = 64;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A product in blocks of the result. For each block, pieces of A and B are
/// packed as f32. The fields are the largest block and the longest range of K
/// at a time.
struct PackedBlocks {
  int64_t rows, columns, depth;

  /// Of the pieces, in floats. Rows are padded so that a column does not map to
  /// the same few cache sets.
  int64_t lda, ldb, ldc, floatsA, floatsB, floatsC;

  PackedBlocks(const WeftGemmRecord &s, int64_t mostRows, int64_t mostDepth)
      : rows(std::min(mostRows, s.m)), columns(std::min(mostRows, s.n)),
        depth(std::min(mostDepth, s.k)) {
    auto padded = [](int64_t width) { return roundUp(width, 16) + 16; };
    lda = padded(s.transA ? rows : depth);
    ldb = padded(s.transB ? depth : columns);
    ldc = padded(columns);
    floatsA = lda * (s.transA ? depth : rows);
    floatsB = ldb * (s.transB ? columns : depth);
    floatsC = ldc * rows;
  }

  int64_t countUnits(const WeftGemmRecord &s) const {
    return s.batch * countPieces(s.m, rows) * countPieces(s.n, columns);
  }
  int64_t pieceBytes() const { return (floatsA + floatsB + floatsC) * 4; }
};

/// Blocks of low products where the processor has no fast instructions for
/// them: pieces of at most 1 MiB.
inline PackedBlocks lowBlocks(const WeftGemmRecord &s) {
  return PackedBlocks(s, 256, 1024);
}
/// Blocks for a product whose library call needs more than the workspace.
inline PackedBlocks smallBlocks(const WeftGemmRecord &s) {
  return PackedBlocks(s, 32, 64);
}

/// Upper limit of oneDNN's scratch for one block of packed pieces. Its kernels
/// that need scratch accept only dense matrices. The rows of a piece are
/// padded, so only a single row is dense.
inline int64_t packedProductBytes(const WeftGemmRecord &s,
                                  const PackedBlocks &blocks) {
  return blocks.rows == 1 || s.m % blocks.rows == 1 ? 4 << 10 : 0;
}

inline int64_t packedBytes(const WeftGemmRecord &s, const PackedBlocks &blocks,
                           int64_t threads) {
  return std::min(threads, blocks.countUnits(s)) *
         (blocks.pieceBytes() + packedProductBytes(s, blocks));
}

/// Longest K of one product: pieces of B that stay in the last-level cache.
constexpr int64_t kLongestK = 4096;
/// Longest K of one product with a transposed operand, below oneDNN's limit of
/// 2048 (GemmPlan.cpp).
constexpr int64_t kLongestTransposedK = 1536;

/// Longest K of a stage; `blocked`: of a product in blocks. A low result is
/// rounded once, so it has one stage.
inline int64_t longestStageK(const WeftGemmRecord &s, bool blocked) {
  if (s.dtypeC != WEFT_F32)
    return s.k;
  return (s.transA || s.transB) && !blocked ? kLongestTransposedK : kLongestK;
}

/// Rows or columns of a block that one thread computes.
constexpr int64_t kBlock = 192;
/// Most of them where there are tiles (AMX).
constexpr int64_t kTileRows = 256, kTileColumns = 384;

/// Longest K that oneDNN's kernels for tiles (AMX) add up in one go however
/// many threads there are: blocks of 256 rows and 384 columns fit into three
/// quarters of a level 2 cache of 2 MiB, the smallest of processors with tiles.
constexpr int64_t kTileCache = 2 << 20;
constexpr int64_t kTileStep = 32; // K comes in steps of it
inline int64_t longestTileK(const WeftGemmRecord &s) {
  return s.transA ? 608 : 832;
}

/// Whether a product in tiles runs in stages that each add up their K in one
/// go. A low result is rounded once, so it has one stage. So has a narrow one:
/// oneDNN adds to some of them in kernels without tiles, which cut K by the
/// number of threads.
inline bool isTileSum(const WeftGemmRecord &s) {
  const bool mayAdd = s.dtypeC == WEFT_F32 && s.m >= 16 && s.n >= 16;
  return s.k % kTileStep == 0 && (mayAdd || s.k <= longestTileK(s));
}

/// K of such a stage: stages are of nearly equal length.
inline int64_t tileStageK(const WeftGemmRecord &s) {
  return roundUp(countPieces(s.k, countPieces(s.k, longestTileK(s))),
                 kTileStep);
}

/// Whether a product is rounded once and so long that it runs in blocks.
inline bool isLongLowProduct(const WeftGemmRecord &s) {
  return s.dtypeC != WEFT_F32 && (s.transA || s.transB) &&
         s.k > kLongestTransposedK;
}

/// Whether the row stride of B is a multiple of 4 KiB, so that a column of B
/// maps to the same few cache sets. brgemm reads an f32 B in place and then
/// loses a quarter of its speed; blocks of columns go to kernels that pack B.
/// It always packs a bf16 B.
inline bool aliasesInCache(const WeftGemmRecord &s) {
  return s.dtype == WEFT_F32 && !s.transB && s.ldb % 1024 == 0 && s.n > kBlock;
}

/// Whether blocks are cut by rows. The longer dimension is cut, or the columns
/// if B aliases.
inline bool isCutByRows(const WeftGemmRecord &s) {
  return s.m >= s.n && !aliasesInCache(s);
}

/// Upper bound of the scratch that oneDNN 2.6 takes for one thread of a
/// product, however a plan (GemmPlan.cpp) divides it: as a whole or in blocks,
/// with the kernels for AVX-512 or for tiles. Those for older processors need
/// none. It has lists, copies of up to 256 rows of A and of 64 columns of B,
/// and the sums of a block of C (src/cpu/x64/matmul/brgemm_matmul_utils.cpp).
/// WorkspaceTest compares it with oneDNN, and fails on another version.
inline int64_t oneDnnThreadBytes(const WeftGemmRecord &s) {
  const bool isLow = s.dtype != WEFT_F32, isLowResult = s.dtypeC != WEFT_F32;
  // Tiles copy A if a dot product of pairs has an odd end.
  const bool copiesA = s.transA || (isLow && (s.k % 2 != 0 || s.k >= 4096));
  const bool copiesB =
      isLow || s.transB || (s.n > 256 && (s.n & (s.n - 1)) == 0);
  const int64_t rows =
      std::min<int64_t>(isLow ? roundUp(s.m, 64) + 64 : s.m, 256);
  // Tiles copy a rest of K like all of it. Long rows are padded.
  const int64_t row =
      std::min<int64_t>(roundUp(s.k, 16), s.transA ? 512 : 1024);
  const int64_t depth =
      isLow ? std::min(s.k, kLongestK) * (s.k % 32 != 0 ? 2 : 1) + 192
            : row + (row < 512 ? 0 : 16);
  const bool isStaged = s.k > longestStageK(s, /*blocked=*/false) ||
                        (isLow && isTileSum(s) && s.k > longestTileK(s));
  const bool adds = s.accumulate || isStaged;
  const bool isCut = s.k > 512 && (adds || isLowResult);
  const int64_t widest = isCut && copiesA ? 1024 : isLow ? kTileColumns : 64;
  int64_t sums = 0;
  if (isCut || (isLow && (isLowResult || s.k > 512 || s.k % 32 != 0)))
    sums = rows * std::min(roundUp(s.n, 64), widest);
  if (isLongLowProduct(s))
    sums = std::max(sums,
                    std::min(s.m, s.n) * std::min(std::max(s.m, s.n), kBlock));
  return ((isLow ? s.k < 2048 ? 8 : 56 : 1) << 10) + sums * 4 +
         (copiesA * rows + copiesB * 64) * depth * (isLow ? 2 : 4);
}

inline int64_t gemmWorkspaceBytes(WeftGemmRecord s, int64_t threads) {
  mergeBatch(s);
  int64_t bytes = packedBytes(s, smallBlocks(s), threads);
  if (s.dtype != WEFT_F32)
    bytes = std::max(bytes, packedBytes(s, lowBlocks(s), threads));
  if (s.dtype != WEFT_F16)
    bytes = std::max(bytes, threads * oneDnnThreadBytes(s));
  bytes = std::max(bytes, PaddedRows(s, threads).bytes());
  return roundUp(bytes, kWorkspaceAlignment);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Queries, and keys, of a tile.
constexpr int64_t kAttentionTile = 64;
/// Random numbers that cover a row of a tile.
constexpr int64_t kAttentionNumbers = kAttentionTile + 8;
/// Floats in a vector of the widest instruction set.
constexpr int64_t kAttentionLanes = 16;
/// Rows, and elements along a sum, of bf16 that AMX multiplies at once.
constexpr int64_t kAttentionRows = 16, kAttentionDepth = 32;

/// Units of work, and scratch bytes of one worker (isa/AttentionScratch.h).
struct AttentionWork {
  int64_t units, bytes;

  AttentionWork(const WeftAttentionRecord &s, bool gradient) {
    int64_t width = roundUp(s.headSize, kAttentionDepth);
    int64_t tile = kAttentionTile;
    int64_t floats = 2 * tile * tile + tile * kAttentionNumbers;
    if (gradient) {
      int64_t row = roundUp(s.headSize, kAttentionLanes);
      floats += 2 * roundUp(s.keys, kAttentionRows) * row + 2 * tile * row +
                5 * width * tile + tile * tile + 2 * tile;
      if (s.dtype == WEFT_BF16)
        floats += roundUp(s.keys, tile) / 2 * width;
      units = s.batch * s.keyHeads;
    } else {
      floats += 4 * width * tile + 3 * tile;
      units = s.batch * s.heads * countPieces(s.queries, tile);
    }
    bytes = floats * 4;
  }
};

inline int64_t attentionWorkspaceBytes(const WeftAttentionRecord &s,
                                       bool gradient, int64_t threads) {
  AttentionWork work(s, gradient);
  return std::min(threads, work.units) * work.bytes;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Positions sorted by id, and the end of each id's range.
inline int64_t embeddingGradWorkspaceBytes(const WeftEmbeddingGradRecord &s) {
  return s.dtypeTable == WEFT_F32 ? (s.count + s.rows + 1) * 8 : 0;
}

//===----------------------------------------------------------------------===//
// Any command
//===----------------------------------------------------------------------===//

/// Workspace bytes of a command with that record, in a program for at most
/// `threads` threads; 0 if it has none.
inline int64_t workspaceBytes(WeftCommandKind kind, const void *record,
                              int64_t threads) {
  switch (kind) {
  case WEFT_GEMM:
    return gemmWorkspaceBytes(*static_cast<const WeftGemmRecord *>(record),
                              threads);
  case WEFT_ATTENTION:
  case WEFT_ATTENTION_GRAD: // its record starts with the forward record
    return attentionWorkspaceBytes(
        *static_cast<const WeftAttentionRecord *>(record),
        kind == WEFT_ATTENTION_GRAD, threads);
  case WEFT_EMBEDDING_GRAD:
    return embeddingGradWorkspaceBytes(
        *static_cast<const WeftEmbeddingGradRecord *>(record));
  default:
    return 0;
  }
}

} // namespace weft

#endif // WEFT_ABI_CPUWORKSPACES_H
