//===- KernelArguments.h - What kernels are told ----------------*- C++ -*-===//
//
// Shared by device code and by the routines that launch it: plain structs,
// passed by value, at most 4 KiB each. Pointers are device addresses.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_KERNELARGUMENTS_H
#define WEFT_KERNELS_CUDA_KERNELARGUMENTS_H

#include "weft/Runtime/Execute/Records.h"

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

struct ConstantArguments {
  void *to;
  int64_t bytes;
  unsigned char values[3968];
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

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_KERNELARGUMENTS_H
