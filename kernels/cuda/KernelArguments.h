//===- KernelArguments.h - Arguments of kernels -----------------*- C++ -*-===//
//
// Shared by device code and by the routines that launch it: plain structs,
// passed by value, at most 4 KiB each. Pointers are device addresses.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_KERNELARGUMENTS_H
#define WEFT_KERNELS_CUDA_KERNELARGUMENTS_H

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/Records.h"

namespace weft::cuda {

//===----------------------------------------------------------------------===//
// Copies, fills
//===----------------------------------------------------------------------===//

/// Threads of a block of all kernels that move elements.
constexpr int kMoveThreads = 256;
/// Rows and columns of a tile that is transposed.
constexpr int kTransposeTile = 32;

/// A copy as loops, outermost first; sizes and strides in units of the kernel's
/// bytes.
struct CopyArguments {
  const void *from;
  void *to;
  int64_t units;
  int64_t rank;
  WeftCopyDim dims[8];
};

/// A copy whose last two loops are a transpose: `from` walks the first of them
/// by 1, `to` the second.
struct TransposeArguments {
  const void *from;
  void *to;
  int64_t tiles, rowTiles, columnTiles;
  int64_t outerRank;
  WeftCopyDim outer[8];
  WeftCopyDim row, column;
};

struct FillArguments {
  void *to;
  int64_t units;
  uint64_t pattern[2]; // 16 bytes, repeated
};

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// out = the sum of the slices of all ranks, which lie one after the other.
struct RankSumArguments {
  const void *slices;
  void *out;
  int64_t elements, ranks;
  double pre, post;
};

/// Numbers that one launch takes.
constexpr int kRankNumbers = 128;

struct RankNumbersArguments {
  /// Of this rank to pack, or of all ranks, `stride` apart.
  double *packed;
  int64_t count, stride, ranks;
  void *numbers[kRankNumbers]; // f64, or i1 of WEFT_RANK_OR
  int32_t kinds[kRankNumbers]; // WeftRankReduction
};

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Threads of a block of embedding: warps, each with a row.
constexpr int kEmbeddingThreads = 256;
/// Columns that a block of the gradient takes.
constexpr int kEmbeddingColumns = 256;

struct EmbeddingArguments {
  const void *table, *ids;
  void *out;
  int64_t count, rows, unitsPerRow;
  int64_t wideIds;  // i64, else i32
  uint64_t nanUnit; // the bits of NaN, repeated
};

/// Keys of a block that sorts: two for each thread and step.
constexpr int kSortThreads = 256;
constexpr int kSortRun = 1024;
/// Runs that are merged at once.
constexpr int kMergeRuns = 32;

/// A key is an id above a position, 32 bits each, so that no two are equal. Ids
/// out of range are kNoRow and come last.
constexpr uint32_t kNoRow = 0xffffffffu;

struct SortArguments {
  const void *ids;
  uint64_t *keys;
  int64_t count, rows, wideIds;
};

struct MergeArguments {
  const uint64_t *from;
  uint64_t *to;
  int64_t count, run; // keys of a sorted run
};

struct BoundsArguments {
  const uint64_t *keys;
  int32_t *begins; // of rows + 1
  int64_t count, rows;
};

struct EmbeddingGradArguments {
  const void *dout;
  void *dtable;
  const uint64_t *keys;
  const int32_t *begins;
  const float *flag; // of WEFT_ADD_IF_FLAG
  int64_t rows, columns, columnBlocks;
  int64_t accumulate; // WeftAccumulate
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Threads of a block of all kernels of attention but the next.
constexpr int kAttentionThreads = 128;
/// Threads of a block that sums rows of dout * out. deltaLanes of them share a
/// row of up to `width` elements.
constexpr int kDeltaThreads = 256;
constexpr int deltaLanes(int64_t width, int64_t elementBytes) {
  const int64_t units = width * elementBytes / 16;
  return units < 32 ? static_cast<int>(units) : 32;
}
/// The same for code of a device, which calls no function of the host.
template <int64_t width, int64_t elementBytes>
constexpr int kDeltaLanes = deltaLanes(width, elementBytes);

/// Rows of one head of a tensor.
struct HeadsArgument {
  void *data;
  WeftHeadStrides strides;
};

/// Of all kernels of attention; those forward leave the gradients empty.
struct AttentionArguments {
  HeadsArgument q, k, v, out;
  HeadsArgument dout, dq, dk, dv;
  float *lse, *delta; // [B, H, T]
  const int64_t *rng; // null where nothing is drawn
  uint32_t *bits;     // stored ones of dropout, or null
  int64_t opId;
  int64_t rows; // B * H * T
  int32_t batch, queries, keys, heads, group, headSize;
  int32_t tiles;                      // of a head
  int32_t bitQueryTiles, bitKeyTiles; // 0 without bits
  int32_t causal;
  int32_t vectors; // whether all rows can be moved 16 bytes at a time
  float scale, keepScale;
  uint32_t dropThreshold;
};

/// The same with the rules of a WeftAttentionVariant.
struct AttentionVariantArguments : AttentionArguments {
  const int32_t *ids;            // [B, T]; null without documents
  int32_t window;                // of at most `keys` keys, or 0
  int32_t behind;                // query i sees keys from i + behind + 1 on
  float softcap, inverseSoftcap; // or 0
};

/// Bytes of shared memory that a block may have on every chip with a target of
/// its own: the limit of sm_80. Chips that run another chip's code may have
/// less; programs check the device when they start.
constexpr int kMostSharedBytes = 163 << 10;

/// Tiles of the kernels for heads of up to D elements: a block owns kRows rows
/// of one side, and walks the other side kColumns rows at a time. Each row of
/// shared memory has 16 bytes more, so that a column lies in all banks.
template <int D> struct WideForward {
  static constexpr int kRows = 64, kColumns = D == 256 ? 32 : 64;
  static constexpr int kSharedBytes =
      4 * ((kRows + kColumns) * (D + 4) + kRows * (kColumns + 4));
};
template <int D> struct WideBackward {
  static constexpr int kRows = D == 256 ? 32 : 64;
  static constexpr int kColumns = D == 64 ? 64 : 32;
  static constexpr int kStatistics = 64; // numbers of lse, and of delta
  static constexpr int kSharedBytes =
      4 * (2 * (kRows + kColumns) * (D + 4) + kRows * (kColumns + 4) +
           2 * kStatistics);
};

/// The same for f16 and bf16: each of four warps has kRowTiles times 16 rows.
/// The rules of a variant take the registers of half the rows.
template <int D, bool kVaries> struct LowForward {
  static constexpr int kRowTiles = D == 256 || kVaries ? 1 : 2;
  static constexpr int kRows = 64 * kRowTiles, kColumns = D == 64 ? 64 : 32;
  static constexpr int kSharedBytes = 2 * (kRows + 2 * kColumns) * (D + 8);
};
/// Tiles of the other side are there twice: while one is used the next arrives.
/// Of dk and dv a block has kKeyColumns columns: of very wide heads a part.
template <int D> struct LowBackward {
  static constexpr int kRows = 64, kColumns = D == 64 ? 64 : 32;
  static constexpr int kKeyColumns = D == 256 ? 128 : D;
  static constexpr int kSharedBytes =
      2 * (2 * kRows + 4 * kColumns) * (D + 8) + 4 * 4 * kColumns;
};

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_KERNELARGUMENTS_H
