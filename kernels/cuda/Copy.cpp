//===- Copy.cpp - weft_cuda_copy, fill and constant -----------------------===//

#include "KernelArguments.h"
#include "Launching.h"
#include "RecordChecks.h"
#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weft::cuda {
namespace {

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The loops in the order of the destination, joined again where they can be.
CopyLoops orderLoops(const WeftCopyRecord &record) {
  CopyLoops loops = readLoops(record), joined;
  for (int i = 1; i < loops.rank; ++i)
    for (int k = i; k > 0; --k)
      if (std::abs(loops.dims[k - 1].to) < std::abs(loops.dims[k].to))
        std::swap(loops.dims[k - 1], loops.dims[k]);
  for (int i = 0; i < loops.rank; ++i)
    addLoop(joined, loops.dims[i]);
  return joined;
}

/// The loop, but the last, over which the source lies side by side while the
/// destination does over the last; -1 if the copy is no transpose.
int findTransposed(const CopyLoops &loops) {
  const WeftCopyDim &last = loops.dims[loops.rank - 1];
  constexpr int64_t least = 4; // shorter ones leave most of a tile idle
  if (last.to != 1 || last.from == 1 || last.from == 0 || last.size < least)
    return -1;
  for (int i = 0; i + 1 < loops.rank; ++i)
    if (loops.dims[i].from == 1 && loops.dims[i].size >= least)
      return i;
  return -1;
}

void launchTranspose(WeftContext &context, const WeftCommand &command,
                     const CopyLoops &loops, int row, int64_t bytes,
                     void *const *buffers) {
  TransposeArguments a = {};
  a.from = buffers[0];
  a.to = buffers[1];
  a.row = loops.dims[row];
  a.column = loops.dims[loops.rank - 1];
  a.rowTiles = (a.row.size - 1) / kTransposeTile + 1;
  a.columnTiles = (a.column.size - 1) / kTransposeTile + 1;
  a.tiles = a.rowTiles * a.columnTiles;
  for (int i = 0; i + 1 < loops.rank; ++i)
    if (i != row) {
      a.outer[a.outerRank++] = loops.dims[i];
      a.tiles *= loops.dims[i].size;
    }
  launch(context, command, "weft_transpose_" + std::to_string(bytes),
         blocksFor(a.tiles, 1), kMoveThreads,
         kTransposeTile * (kTransposeTile + 1) * bytes, a);
}

/// The loops in units of as many bytes as addresses, strides and the last loop
/// allow.
void launchLoops(WeftContext &context, const WeftCommand &command,
                 const CopyLoops &loops, int64_t bytes, void *const *buffers) {
  CopyArguments a = {buffers[0], buffers[1], 1, loops.rank, {}};
  std::copy(loops.dims, loops.dims + loops.rank, a.dims);
  WeftCopyDim &last = a.dims[loops.rank - 1];
  int64_t unit = bytes;
  if (last.from == 1 && last.to == 1) {
    UnitBytes common;
    common.divides(buffers[0]).divides(buffers[1]).divides(last.size * bytes);
    for (int i = 0; i + 1 < loops.rank; ++i)
      common.divides(a.dims[i].from * bytes).divides(a.dims[i].to * bytes);
    unit = std::max(bytes, common.get());
    for (int i = 0; i + 1 < loops.rank; ++i)
      a.dims[i].from = a.dims[i].from * bytes / unit,
      a.dims[i].to = a.dims[i].to * bytes / unit;
    last.size = last.size * bytes / unit;
  }
  for (int i = 0; i < loops.rank; ++i)
    a.units *= a.dims[i].size;
  launch(context, command, "weft_copy_" + std::to_string(unit),
         blocksFor(a.units, kMoveThreads), kMoveThreads, 0, a);
}

void runCopy(WeftContext &context, const WeftCommand &command,
             const WeftCopyRecord &record, void *const *buffers) {
  CopyLoops loops = orderLoops(record);
  const WeftCopyDim &last = loops.dims[loops.rank - 1];
  int64_t bytes = record.elementBytes;
  if (loops.rank == 1 && last.from == 1 && last.to == 1)
    return copyOnDevice(context, command, buffers[1], buffers[0],
                        last.size * bytes);
  if (int row = findTransposed(loops); row >= 0)
    return launchTranspose(context, command, loops, row, bytes, buffers);
  launchLoops(context, command, loops, bytes, buffers);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

/// Fills `bytes` with the `size` bytes of an element again and again.
void fillWith(WeftContext &context, const WeftCommand &command, void *to,
              int64_t bytes, const void *element, size_t size) {
  FillArguments a = {to, 0, {}};
  auto *pattern = reinterpret_cast<unsigned char *>(a.pattern);
  for (size_t at = 0; at < sizeof a.pattern; at += size)
    std::memcpy(pattern + at, element, size);
  if (std::all_of(pattern + 1, pattern + size,
                  [&](unsigned char byte) { return byte == *pattern; }))
    return fillOnDevice(context, command, to, *pattern, bytes);
  int64_t unit = UnitBytes().divides(to).divides(bytes).get();
  unit = std::max<int64_t>(unit, size);
  a.units = bytes / unit;
  launch(context, command, "weft_fill_" + std::to_string(unit),
         blocksFor(a.units, kMoveThreads), kMoveThreads, 0, a);
}

} // namespace
} // namespace weft::cuda

using namespace weft;
using namespace weft::cuda;

extern "C" void weft_cuda_copy(WeftContext *context, const WeftCommand *command,
                               void *const *buffers) {
  const auto *record = recordOf<WEFT_COPY>(*context, *command);
  if (!record || !checkCopy(*context, *command, *record))
    return;
  int64_t bytes = record->elementBytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    return failElementBytes(*context, *command, *record);
  runCopy(*context, *command, *record, buffers);
}

extern "C" void weft_cuda_fill(WeftContext *context, const WeftCommand *command,
                               void *const *buffers) {
  const auto *record = recordOf<WEFT_FILL>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 1) ||
      !checkRange(*context, *command, "elements", record->elements, 0))
    return;
  bool known = withElement(record->dtype, [&](auto element) {
    auto value = element.make(record->value);
    if (record->elements > 0)
      fillWith(*context, *command, buffers[0], record->elements * sizeof value,
               &value, sizeof value);
  });
  if (!known)
    failFillType(*context, *command, record->dtype);
}

extern "C" void weft_cuda_constant(WeftContext *context,
                                   const WeftCommand *command,
                                   void *const *buffers) {
  const auto *record = recordOf<WEFT_CONSTANT>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 1))
    return;
  copyOnDevice(*context, *command, buffers[0],
               constantOnDevice(*context, *command), record->count);
}
