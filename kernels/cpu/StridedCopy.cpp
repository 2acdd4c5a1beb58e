//===- StridedCopy.cpp - Copies and constants -----------------------------===//

#include "FloatRuns.h"
#include "RecordChecks.h"

#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// The innermost loop over part of a row.
template <typename T>
void copyRow(const T *from, T *to, const WeftCopyDim &dim, int64_t count) {
  if (dim.from == 1 && dim.to == 1) {
    std::memcpy(to, from, count * sizeof(T));
  } else if (dim.from == 0 && dim.to == 1) {
    std::fill(to, to + count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i * dim.to] = from[i * dim.from];
  }
}

/// Rows [begin, end) of the loops around the innermost one.
template <typename T>
void copyRows(const T *from, T *to, const CopyLoops &loops, int64_t begin,
              int64_t end) {
  const WeftCopyDim &inner = loops.dims[loops.rank - 1];
  for (int64_t row = begin; row < end; ++row) {
    int64_t rest = row, source = 0, destination = 0;
    for (int i = loops.rank - 2; i >= 0; --i) {
      int64_t index = rest % loops.dims[i].size;
      rest /= loops.dims[i].size;
      source += index * loops.dims[i].from;
      destination += index * loops.dims[i].to;
    }
    copyRow(from + source, to + destination, inner, inner.size);
  }
}

template <typename T>
void runCopy(WeftContext &context, const CopyLoops &loops,
             void *const *buffers) {
  const T *from = as<T>(buffers[0]);
  T *to = as<T>(buffers[1]);
  const WeftCopyDim &inner = loops.dims[loops.rank - 1];
  int64_t rows = 1;
  for (int i = 0; i + 1 < loops.rank; ++i)
    rows *= loops.dims[i].size;
  constexpr int64_t grain = 16384;
  if (rows == 1)
    return context.parallelFor(inner.size, grain, [&](RangePart part) {
      copyRow(from + part.begin * inner.from, to + part.begin * inner.to, inner,
              part.end - part.begin);
    });
  context.parallelFor(
      rows, std::max<int64_t>(1, grain / inner.size),
      [&](RangePart part) { copyRows(from, to, loops, part.begin, part.end); });
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_copy(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  const auto *record = recordOf<WEFT_COPY>(*context, *command);
  if (!record || !checkCopy(*context, *command, *record))
    return;
  CopyLoops loops = readLoops(*record);
  switch (record->elementBytes) {
  case 1:
    return runCopy<uint8_t>(*context, loops, buffers);
  case 2:
    return runCopy<uint16_t>(*context, loops, buffers);
  case 4:
    return runCopy<uint32_t>(*context, loops, buffers);
  case 8:
    return runCopy<uint64_t>(*context, loops, buffers);
  default:
    failElementBytes(*context, *command, *record);
  }
}

extern "C" void weft_cpu_fill(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  const auto *record = recordOf<WEFT_FILL>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 1) ||
      !checkRange(*context, *command, "elements", record->elements, 0))
    return;
  bool known = withElement(record->dtype, [&](auto element) {
    auto value = element.make(record->value);
    auto *to = as<decltype(value)>(buffers[0]);
    context->parallelFor(record->elements, kElementGrain, [&](RangePart part) {
      std::fill(to + part.begin, to + part.end, value);
    });
  });
  if (!known)
    failFillType(*context, *command, record->dtype);
}

extern "C" void weft_cpu_constant(WeftContext *context,
                                  const WeftCommand *command,
                                  void *const *buffers) {
  const auto *record = recordOf<WEFT_CONSTANT>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 1))
    return;
  const char *from = entriesOf<char>(*record);
  char *to = as<char>(buffers[0]);
  context->parallelFor(record->count, kElementGrain, [&](RangePart part) {
    std::copy(from + part.begin, from + part.end, to + part.begin);
  });
}
