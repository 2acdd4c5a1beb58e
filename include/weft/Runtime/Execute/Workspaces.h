//===- Workspaces.h - Memory that routines of the CPU work in ---*- C++ -*-===//
//
// A routine that needs memory beside its operands gets a workspace: bytes of
// the arena that hold nothing before and after its command. The compiler
// allocates them and the routine divides them; how many there are is said here
// alone, in bytes, from the record of a command and the most threads that the
// program runs on. Plain arithmetic, the same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_WORKSPACES_H
#define WEFT_RUNTIME_EXECUTE_WORKSPACES_H

#include "weft/Runtime/Execute/Products.h"
#include "weft/Runtime/Execute/RecordTypes.h"

#include <algorithm>

namespace weft {

/// Threads that a program runs on at most, unless the compiler is told.
constexpr int64_t kDefaultMaxThreads = 16;
/// The most that it can be told.
constexpr int64_t kMostThreads = 1024;
/// What a workspace, and each worker's part of it, is aligned to.
constexpr int64_t kWorkspaceAlignment = 64;

inline int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
inline int64_t countPieces(int64_t size, int64_t piece) {
  return size / piece + (size % piece != 0);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A product by blocks of the result, for each of which pieces of A and B are
/// packed as f32: the largest block, and the longest range of K at a time.
struct PackedBlocks {
  int64_t rows, columns, depth;

  /// Of the pieces, in floats: rows lie apart so that a column does not keep
  /// falling into the same cache sets.
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
/// Blocks for any product whose library needs more than there is.
inline PackedBlocks smallBlocks(const WeftGemmRecord &s) {
  return PackedBlocks(s, 32, 64);
}

/// What oneDNN works in for one block of packed pieces, at most.
constexpr int64_t kPackedProductBytes = 4 << 10;

inline int64_t packedBytes(const WeftGemmRecord &s, const PackedBlocks &blocks,
                           int64_t threads) {
  return std::min(threads, blocks.countUnits(s)) *
         (blocks.pieceBytes() + kPackedProductBytes);
}

/// What oneDNN takes for a product as a whole on `threads` threads, on the
/// processors that are known: it copies pieces of A and B that are transposed,
/// and low ones always.
inline int64_t wholeProductBytes(const WeftGemmRecord &s, int64_t threads) {
  constexpr int64_t fixed = 5 << 10;
  bool transposed = s.transA || s.transB;
  if (s.dtype != WEFT_F32) {
    // Long sums of a low result run as blocks, others in pieces (GemmPlan.cpp).
    bool isCut = transposed && s.dtypeC == WEFT_F32;
    bool isBlocked = transposed && !isCut && s.k > 1536;
    int64_t depth = std::min<int64_t>(s.k, isCut ? 1536 : 4096);
    int64_t copies = depth * (s.transA ? 768 : depth > 2048 ? 448 : 192);
    if (isBlocked)
      copies = std::max(copies, std::min(s.m, s.n) * 768);
    return threads * (fixed + copies);
  }
  int64_t rows = roundUp(s.m, 16), depth = s.k <= 512 ? s.k : 1024;
  int64_t copies = 64 + (s.transA ? std::min<int64_t>(rows, 272) : 0);
  int64_t tails = std::min({rows * 256, (s.k + 110) * 128, int64_t(64) << 10});
  return threads * (fixed + tails + depth * copies * 4);
}

inline int64_t gemmWorkspaceBytes(WeftGemmRecord s, int64_t threads) {
  mergeBatch(s);
  int64_t bytes = packedBytes(s, smallBlocks(s), threads);
  if (s.dtype != WEFT_F32)
    bytes = std::max(bytes, packedBytes(s, lowBlocks(s), threads));
  if (s.dtype != WEFT_F16)
    bytes = std::max(bytes, wholeProductBytes(s, threads));
  return roundUp(bytes, kWorkspaceAlignment);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Queries, and keys, that are worked on together.
constexpr int64_t kAttentionTile = 64;
/// Random numbers that cover a row of a tile.
constexpr int64_t kAttentionNumbers = kAttentionTile + 8;
/// Floats in a vector of the widest instruction set.
constexpr int64_t kAttentionLanes = 16;

/// Units of work, and bytes of the worker of one (isa/AttentionScratch.h).
struct AttentionWork {
  int64_t units, bytes;

  AttentionWork(const WeftAttentionRecord &s, bool gradient) {
    int64_t width = s.headSize, tile = kAttentionTile;
    int64_t floats = 2 * tile * tile + tile * kAttentionNumbers;
    if (gradient) {
      int64_t row = roundUp(width, kAttentionLanes);
      floats += 2 * s.keys * row + 2 * tile * row + 5 * width * tile +
                tile * tile + 2 * tile;
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
// Losses, tables, norms
//===----------------------------------------------------------------------===//

/// The losses of all rows.
inline int64_t crossEntropyWorkspaceBytes(const WeftCrossEntropyRecord &s) {
  return s.rows * 8;
}

/// Positions in the order of their ids, and where each id's end.
inline int64_t embeddingGradWorkspaceBytes(const WeftEmbeddingGradRecord &s) {
  return s.dtypeTable == WEFT_F32 ? (s.count + s.rows + 1) * 8 : 0;
}

/// Elements of a block: the unit of work and of summation of a norm.
constexpr int64_t kNormBlock = 16384;
/// Bytes of the sum of a block.
constexpr int64_t kNormBlockBytes = 16;

/// Sums of all blocks, and behind them room for a widened block of each thread.
struct NormWork {
  int64_t resultBytes, blockBytes; // of all threads together, of one

  explicit NormWork(const WeftNormAndCheckRecord &s) {
    const auto *parts = entriesOf<WeftNormPart>(s);
    int64_t blocks = 1;
    bool hasLow = false;
    for (int64_t i = 0; i < s.count; ++i) {
      blocks += countPieces(parts[i].elements, kNormBlock);
      hasLow |= parts[i].dtype != WEFT_F32;
    }
    resultBytes = roundUp(blocks * kNormBlockBytes, kWorkspaceAlignment);
    blockBytes = hasLow ? kNormBlock * 4 : 0;
  }
};

inline int64_t normWorkspaceBytes(const WeftNormAndCheckRecord &s,
                                  int64_t threads) {
  NormWork work(s);
  return work.resultBytes + threads * work.blockBytes;
}

//===----------------------------------------------------------------------===//
// Any command
//===----------------------------------------------------------------------===//

/// Bytes of the workspace of a command with that record, in a program for at
/// most `threads` threads; 0: it has none.
inline int64_t workspaceBytes(WeftCommandKind kind, const void *record,
                              int64_t threads) {
  switch (kind) {
  case WEFT_GEMM:
    return gemmWorkspaceBytes(*static_cast<const WeftGemmRecord *>(record),
                              threads);
  case WEFT_ATTENTION:
  case WEFT_ATTENTION_GRAD: // its record begins with that of the forward call
    return attentionWorkspaceBytes(
        *static_cast<const WeftAttentionRecord *>(record),
        kind == WEFT_ATTENTION_GRAD, threads);
  case WEFT_CROSS_ENTROPY:
    return crossEntropyWorkspaceBytes(
        *static_cast<const WeftCrossEntropyRecord *>(record));
  case WEFT_EMBEDDING_GRAD:
    return embeddingGradWorkspaceBytes(
        *static_cast<const WeftEmbeddingGradRecord *>(record));
  case WEFT_NORM_AND_CHECK:
    return normWorkspaceBytes(
        *static_cast<const WeftNormAndCheckRecord *>(record), threads);
  default:
    return 0;
  }
}

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_WORKSPACES_H
