//===- Embedding.cu - Gather and scatter-add of table rows ----------------===//
//
// The gradient sorts the positions by id; the sort is stable. Blocks sort runs
// in shared memory, then runs are merged: each key finds its position by binary
// searches in the other runs. A block then owns a row of the table, so there
// are no atomics and every sum runs in the order of the positions.
//
//===----------------------------------------------------------------------===//

#include "DeviceLanguage.h"
#include "KernelArguments.h"

namespace weft::cuda {

WEFT_DEVICE int64_t idAt(const void *ids, int64_t wide, int64_t i) {
  return wide ? static_cast<const int64_t *>(ids)[i]
              : static_cast<const int32_t *>(ids)[i];
}

/// A warp for each row of `out`; one whose id has no row becomes NaN.
template <typename Unit>
WEFT_DEVICE void gatherRows(const EmbeddingArguments &a) {
  int64_t warps = globalSize() / kWarp;
  for (int64_t n = globalIndex() / kWarp; n < a.count; n += warps) {
    int64_t id = idAt(a.ids, a.wideIds, n);
    Unit *to = static_cast<Unit *>(a.out) + n * a.unitsPerRow;
    if (id < 0 || id >= a.rows) {
      for (int64_t i = laneIndex(); i < a.unitsPerRow; i += kWarp)
        to[i] = unitOf<Unit>(a.nanUnit, a.nanUnit);
      continue;
    }
    const Unit *from = static_cast<const Unit *>(a.table) + id * a.unitsPerRow;
    for (int64_t i = laneIndex(); i < a.unitsPerRow; i += kWarp)
      to[i] = from[i];
  }
}

//===----------------------------------------------------------------------===//
// Sorting positions
//===----------------------------------------------------------------------===//

WEFT_DEVICE uint64_t keyOf(const SortArguments &a, int64_t position) {
  if (position >= a.count)
    return ~uint64_t(0);
  int64_t id = idAt(a.ids, a.wideIds, position);
  uint64_t row = id < 0 || id >= a.rows ? kNoRow : static_cast<uint64_t>(id);
  return row << 32 | static_cast<uint64_t>(position);
}

/// One step of a bitonic sort (Batcher 1968): pairs `distance` apart, ordered
/// up or down by the bit `size` of their index.
WEFT_DEVICE void orderPairs(uint64_t *keys, int size, int distance) {
  for (int i = static_cast<int>(threadIndex()); i < kSortRun / 2;
       i += kSortThreads) {
    int low = i / distance * 2 * distance + i % distance;
    int high = low + distance;
    bool isDown = (low & size) != 0;
    uint64_t x = keys[low], y = keys[high];
    if ((x > y) != isDown) {
      keys[low] = y;
      keys[high] = x;
    }
  }
}

WEFT_DEVICE void sortRun(const SortArguments &a) {
  uint64_t *keys = reinterpret_cast<uint64_t *>(sharedMemory());
  int64_t begin = static_cast<int64_t>(blockIndex()) * kSortRun;
  for (int i = static_cast<int>(threadIndex()); i < kSortRun; i += kSortThreads)
    keys[i] = keyOf(a, begin + i);
  for (int size = 2; size <= kSortRun; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      barrier();
      orderPairs(keys, size, distance);
    }
  barrier();
  for (int i = static_cast<int>(threadIndex()); i < kSortRun; i += kSortThreads)
    if (begin + i < a.count)
      a.keys[begin + i] = keys[i];
}

/// How many of `count` sorted keys are below `key`.
WEFT_DEVICE int64_t countBelow(const uint64_t *keys, int64_t count,
                               uint64_t key) {
  int64_t begin = 0;
  while (count > 0) {
    int64_t half = count / 2;
    if (keys[begin + half] < key) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

/// A thread for each key: its place is the number of keys below it in all runs
/// that are merged.
WEFT_DEVICE void mergeRuns(const MergeArguments &a) {
  int64_t i = globalIndex();
  if (i >= a.count)
    return;
  uint64_t key = a.from[i];
  int64_t own = i / a.run, first = own / kMergeRuns * kMergeRuns;
  int64_t place = first * a.run + i - own * a.run;
  for (int64_t run = first; run < first + kMergeRuns; ++run) {
    int64_t begin = run * a.run;
    int64_t count = a.count - begin < a.run ? a.count - begin : a.run;
    if (run != own && count > 0)
      place += countBelow(a.from + begin, count, key);
  }
  a.to[place] = key;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Rows of dout that are read before the first of them is added.
constexpr int kPrefetch = 8;

/// The sum of an f32 table: in f64, rounded once.
struct WideSum {
  double sum;
  WEFT_MEMBER void add(float x) { sum = sum + static_cast<double>(x); }
  WEFT_MEMBER float result() const { return static_cast<float>(sum); }
};
/// That of a low table: rounded after every addition.
template <typename Type> struct LowSum {
  float sum;
  WEFT_MEMBER void add(float x) { sum = Type::widen(Type::narrow(sum + x)); }
  WEFT_MEMBER float result() const { return sum; }
};

template <typename Type, typename Sum>
WEFT_DEVICE void addPositions(const EmbeddingGradArguments &a, int64_t column,
                              int32_t begin, int32_t end, Sum &sum) {
  const auto *dout = static_cast<const typename Type::Bits *>(a.dout) + column;
  for (int32_t i = begin; i < end; i += kPrefetch) {
    float values[kPrefetch];
#pragma unroll
    for (int k = 0; k < kPrefetch; ++k)
      if (i + k < end)
        values[k] = Type::widen(
            dout[static_cast<int64_t>(static_cast<uint32_t>(a.keys[i + k])) *
                 a.columns]);
#pragma unroll
    for (int k = 0; k < kPrefetch; ++k)
      if (i + k < end)
        sum.add(values[k]);
  }
}

/// A block for a row of the table and kEmbeddingColumns of its columns.
template <typename Type, typename TableType, typename Sum>
WEFT_DEVICE void scatterRow(const EmbeddingGradArguments &a) {
  int64_t row = blockIndex() / a.columnBlocks;
  int64_t column =
      blockIndex() % a.columnBlocks * kEmbeddingColumns + threadIndex();
  if (column >= a.columns)
    return;
  bool adds = a.accumulate == WEFT_ADD_IF_FLAG ? *a.flag != 0.0f
                                               : a.accumulate == WEFT_ADD;
  int32_t begin = a.begins[row], end = a.begins[row + 1];
  if (adds && begin == end)
    return;
  auto *to = static_cast<typename TableType::Bits *>(a.dtable) +
             row * a.columns + column;
  Sum sum = {0};
  if (adds)
    sum.sum = TableType::widen(*to);
  addPositions<Type>(a, column, begin, end, sum);
  *to = TableType::narrow(sum.result());
}

} // namespace weft::cuda

using namespace weft::cuda;

#define WEFT_EMBEDDING_KERNEL(bytes, Unit)                                     \
  WEFT_KERNEL(weft_embedding_##bytes, EmbeddingArguments, kEmbeddingThreads,   \
              1) {                                                             \
    gatherRows<Unit>(a);                                                       \
  }
WEFT_EMBEDDING_KERNEL(2, uint16_t)
WEFT_EMBEDDING_KERNEL(4, uint32_t)
WEFT_EMBEDDING_KERNEL(8, uint64_t)
WEFT_EMBEDDING_KERNEL(16, Unit16)

WEFT_KERNEL(weft_embedding_sort, SortArguments, kSortThreads, 1) { sortRun(a); }
WEFT_KERNEL(weft_embedding_merge, MergeArguments, kSortThreads, 1) {
  mergeRuns(a);
}
WEFT_KERNEL(weft_embedding_bounds, BoundsArguments, kSortThreads, 1) {
  int64_t row = globalIndex();
  if (row <= a.rows)
    a.begins[row] = static_cast<int32_t>(
        countBelow(a.keys, a.count, static_cast<uint64_t>(row) << 32));
}

#define WEFT_EMBEDDING_GRAD_KERNEL(name, Type, TableType, Sum)                 \
  WEFT_KERNEL(weft_embedding_grad_##name, EmbeddingGradArguments,              \
              kEmbeddingColumns, 1) {                                          \
    scatterRow<Type, TableType, Sum>(a);                                       \
  }
WEFT_EMBEDDING_GRAD_KERNEL(f32, F32, F32, WideSum)
WEFT_EMBEDDING_GRAD_KERNEL(f16, F16, F16, LowSum<F16>)
WEFT_EMBEDDING_GRAD_KERNEL(bf16, Bf16, Bf16, LowSum<Bf16>)
WEFT_EMBEDDING_GRAD_KERNEL(f16_f32, F16, F32, WideSum)
WEFT_EMBEDDING_GRAD_KERNEL(bf16_f32, Bf16, F32, WideSum)
