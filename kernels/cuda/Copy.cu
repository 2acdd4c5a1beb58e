//===- Copy.cu - Strided copies, transposes, fills -------------===//
//
// Every thread moves units of 1 to 16 bytes, whatever they hold. Reads and
// writes of a warp lie side by side wherever one of the two can, and both where
// the copy is a transpose: that goes through tiles in shared memory.
//
//===----------------------------------------------------------------------===//

#include "DeviceLanguage.h"
#include "KernelArguments.h"

namespace weft::cuda {

/// Distances of unit `index` of the loops on both sides.
template <typename Index>
WEFT_DEVICE void findUnit(const WeftCopyDim *dims, int rank, Index index,
                          int64_t &from, int64_t &to) {
  from = 0, to = 0;
  for (int i = rank - 1; i >= 0; --i) {
    Index size = static_cast<Index>(dims[i].size);
    Index rest = index / size;
    int64_t at = index - rest * size;
    from += at * dims[i].from;
    to += at * dims[i].to;
    index = rest;
  }
}

template <typename Unit, typename Index>
WEFT_DEVICE void copyUnits(const CopyArguments &a) {
  const Unit *source = static_cast<const Unit *>(a.from);
  Unit *destination = static_cast<Unit *>(a.to);
  for (int64_t i = globalIndex(); i < a.units; i += globalSize()) {
    int64_t from, to;
    findUnit(a.dims, static_cast<int>(a.rank), static_cast<Index>(i), from, to);
    destination[to] = source[from];
  }
}

/// Divisions of 32 bits are several times as fast.
template <typename Unit> WEFT_DEVICE void copyLoops(const CopyArguments &a) {
  if (a.units < (int64_t(1) << 32))
    copyUnits<Unit, uint32_t>(a);
  else
    copyUnits<Unit, uint64_t>(a);
}

/// One tile for a block at a time. A row of the tile in shared memory has one
/// unit more, so that a column lies in all banks.
template <typename Unit>
WEFT_DEVICE void transposeTiles(const TransposeArguments &a) {
  constexpr int tile = kTransposeTile, step = kMoveThreads / kTransposeTile;
  Unit *staged = reinterpret_cast<Unit *>(sharedMemory());
  int x = static_cast<int>(threadIndex()) % tile;
  int y = static_cast<int>(threadIndex()) / tile;
  for (int64_t i = blockIndex(); i < a.tiles; i += gridSize()) {
    int64_t rowBegin = i % a.rowTiles * tile;
    int64_t columnBegin = i / a.rowTiles % a.columnTiles * tile;
    int64_t fromOuter, toOuter;
    findUnit(a.outer, static_cast<int>(a.outerRank),
             static_cast<uint64_t>(i / a.rowTiles / a.columnTiles), fromOuter,
             toOuter);
    const Unit *from = static_cast<const Unit *>(a.from) + fromOuter;
    Unit *to = static_cast<Unit *>(a.to) + toOuter;
    for (int j = y; j < tile; j += step)
      if (rowBegin + x < a.row.size && columnBegin + j < a.column.size)
        staged[j * (tile + 1) + x] =
            from[rowBegin + x + (columnBegin + j) * a.column.from];
    barrier();
    for (int j = y; j < tile; j += step)
      if (rowBegin + j < a.row.size && columnBegin + x < a.column.size)
        to[(rowBegin + j) * a.row.to + columnBegin + x] =
            staged[x * (tile + 1) + j];
    barrier();
  }
}

template <typename Unit> WEFT_DEVICE void fillUnits(const FillArguments &a) {
  Unit unit = unitOf<Unit>(a.pattern[0], a.pattern[1]);
  Unit *to = static_cast<Unit *>(a.to);
  for (int64_t i = globalIndex(); i < a.units; i += globalSize())
    to[i] = unit;
}

} // namespace weft::cuda

using namespace weft::cuda;

#define WEFT_MOVE_KERNELS(bytes, Unit)                                         \
  WEFT_KERNEL(weft_copy_##bytes, CopyArguments, kMoveThreads, 1) {             \
    copyLoops<Unit>(a);                                                        \
  }                                                                            \
  WEFT_KERNEL(weft_fill_##bytes, FillArguments, kMoveThreads, 1) {             \
    fillUnits<Unit>(a);                                                        \
  }
WEFT_MOVE_KERNELS(1, uint8_t)
WEFT_MOVE_KERNELS(2, uint16_t)
WEFT_MOVE_KERNELS(4, uint32_t)
WEFT_MOVE_KERNELS(8, uint64_t)
WEFT_MOVE_KERNELS(16, Unit16)

#define WEFT_TRANSPOSE_KERNEL(bytes, Unit)                                     \
  WEFT_KERNEL(weft_transpose_##bytes, TransposeArguments, kMoveThreads, 1) {   \
    transposeTiles<Unit>(a);                                                   \
  }
WEFT_TRANSPOSE_KERNEL(1, uint8_t)
WEFT_TRANSPOSE_KERNEL(2, uint16_t)
WEFT_TRANSPOSE_KERNEL(4, uint32_t)
WEFT_TRANSPOSE_KERNEL(8, uint64_t)
