//===- CopyLoops.h - A copy as nested loops ---------------------*- C++ -*-===//

#ifndef WEFT_KERNELS_COPYLOOPS_H
#define WEFT_KERNELS_COPYLOOPS_H

#include "Arguments.h"

namespace weft {

/// Dimensions of a copy at most.
constexpr int kMaxRank = 8;

/// A copy as loops, outermost first; always at least one.
struct CopyLoops {
  WeftCopyDim dims[kMaxRank];
  int rank = 0;
};

/// Adds an innermost loop. It is merged into the enclosing loop if both sides
/// are contiguous across the two.
inline void addLoop(CopyLoops &loops, const WeftCopyDim &dim) {
  WeftCopyDim *outer = loops.rank ? &loops.dims[loops.rank - 1] : nullptr;
  if (outer && outer->from == dim.size * dim.from &&
      outer->to == dim.size * dim.to)
    *outer = {outer->size * dim.size, dim.from, dim.to};
  else
    loops.dims[loops.rank++] = dim;
}

/// Drops dimensions of one element and merges neighbours that are contiguous on
/// both sides.
inline CopyLoops readLoops(const WeftCopyRecord &record) {
  CopyLoops loops;
  for (int64_t i = 0; i < record.count; ++i) {
    WeftCopyDim dim = entriesOf<WeftCopyDim>(record)[i];
    if (dim.size == 1)
      continue;
    addLoop(loops, dim);
  }
  if (loops.rank == 0)
    loops.dims[loops.rank++] = {1, 1, 1};
  return loops;
}

inline bool checkCopy(WeftContext &context, const WeftCommand &command,
                      const WeftCopyRecord &record) {
  if (!checkBuffers(context, command, 2) ||
      !checkRange(context, command, "rank", record.count, 0, kMaxRank))
    return false;
  for (int64_t i = 0; i < record.count; ++i)
    if (!checkRange(context, command, "dimension",
                    entriesOf<WeftCopyDim>(record)[i].size, 1))
      return false;
  return true;
}

inline void failElementBytes(WeftContext &context, const WeftCommand &command,
                             const WeftCopyRecord &record) {
  failCommand(context, command, kInternalError,
              "expects 1, 2, 4 or 8 bytes per element, but got " +
                  std::to_string(record.elementBytes));
}

} // namespace weft

#endif // WEFT_KERNELS_COPYLOOPS_H
