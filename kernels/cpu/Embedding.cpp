//===- Embedding.cpp - Gather and scatter-add of table rows ---------------===//

#include "FloatRuns.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

bool checkIds(WeftContext &context, const WeftCommand &command,
              const Indices &ids, int64_t count, int64_t rows) {
  for (int64_t n = 0; n < count; ++n) {
    if (ids[n] >= 0 && ids[n] < rows)
      continue;
    failCommand(context, command, kInputError,
                "expects ids in [0, " + std::to_string(rows) + "), but got " +
                    std::to_string(ids[n]) + " at " + std::to_string(n));
    return false;
  }
  return true;
}

bool checkSizes(WeftContext &context, const WeftCommand &command) {
  return checkRange(context, command, "N", command.ints[0], 1) &&
         checkRange(context, command, "V", command.ints[1], 1) &&
         checkRange(context, command, "C", command.ints[2], 1) &&
         checkIndexType(context, command, command.ints[3]);
}

bool checkGradientTypes(WeftContext &context, const WeftCommand &command) {
  int64_t from = command.ints[5], to = command.ints[6];
  if (!checkFloatType(context, command, "dout", from))
    return false;
  if (to == WEFT_F32 || to == from)
    return true;
  failCommand(context, command, kInternalError,
              "expects dtable of dtype f32 (0) or that of dout, but got " +
                  std::to_string(to));
  return false;
}

/// Columns a part of the scatter-add takes: whole cache lines.
constexpr int64_t kColumnGrain = 64;

/// Positions by id, those of one id in order.
class Groups {
public:
  static int64_t bytesFor(int64_t count, int64_t rows) {
    return (count + rows + 1) * static_cast<int64_t>(sizeof(int64_t));
  }
  /// A counting sort; `memory` has room for bytesFor(count, rows).
  Groups(const Indices &ids, int64_t count, int64_t rows, void *memory)
      : rows(rows), ends(static_cast<int64_t *>(memory)),
        order(ends + rows + 1) {
    std::fill(ends, ends + rows + 1, 0);
    for (int64_t n = 0; n < count; ++n)
      ++ends[ids[n] + 1];
    for (int64_t id = 0; id < rows; ++id)
      ends[id + 1] += ends[id];
    // Each begin moves to its end, which is the next one's begin.
    for (int64_t n = 0; n < count; ++n)
      order[ends[ids[n]]++] = n;
  }
  /// Calls body(id, first position, behind the last) for each id that occurs.
  template <typename Body> void forEach(Body body) const {
    for (int64_t id = 0, begin = 0; id < rows; begin = ends[id++])
      if (ends[id] != begin)
        body(id, order + begin, order + ends[id]);
  }

private:
  int64_t rows;
  int64_t *ends, *order;
};

/// Adds rows of dout one by one; a low table is rounded after each.
void addInOrder(const Loops &loops, const Indices &ids, int64_t count,
                int64_t width, FloatBuffer dout, FloatBuffer dtable,
                RangePart part) {
  FloatRun from(loops, dout), to(loops, dtable);
  forEachRun(part.begin, part.end, [&](int64_t column, int64_t columns) {
    for (int64_t n = 0; n < count; ++n) {
      int64_t at = ids[n] * width + column;
      float *row = to.read(at, columns);
      loops.addRows(columns, from.read(n * width + column, columns), row);
      to.write(at, columns);
    }
  });
}

/// Adds all rows of an id in f64 and rounds their sum.
void addInGroups(const Loops &loops, const Groups &groups, int64_t width,
                 FloatBuffer dout, float *dtable, RangePart part) {
  FloatRun from(loops, dout);
  double sums[kRunLength];
  forEachRun(part.begin, part.end, [&](int64_t column, int64_t columns) {
    groups.forEach([&](int64_t id, const int64_t *n, const int64_t *end) {
      float *row = dtable + id * width + column;
      std::copy(row, row + columns, sums);
      for (; n != end; ++n)
        loops.addWide(columns, from.read(*n * width + column, columns), sums);
      std::copy(sums, sums + columns, row);
    });
  });
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_embedding(WeftContext *context,
                                   const WeftCommand *command,
                                   void *const *buffers) {
  if (!checkCounts(*context, *command, 3, 5, 0) ||
      !checkSizes(*context, *command) ||
      !checkFloatType(*context, *command, "table", command->ints[4]))
    return;
  int64_t count = command->ints[0], width = command->ints[2];
  Indices ids(buffers[1], command->ints[3]);
  if (!checkIds(*context, *command, ids, count, command->ints[1]))
    return;
  FloatBuffer table = {buffers[0], command->ints[4]};
  FloatBuffer out = {buffers[2], command->ints[4]};
  int64_t grain = std::max<int64_t>(1, kElementGrain / width);
  context->parallelFor(count, grain, [&](RangePart part) {
    for (int64_t n = part.begin; n < part.end; ++n)
      std::memcpy(out.at(n * width), table.at(ids[n] * width),
                  width * floatBytes(table.dtype));
  });
}

/// Threads take columns, so that every sum runs over n in order.
extern "C" void weft_cpu_embedding_grad(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  if (!checkCounts(*context, *command, 3, 7, 0) ||
      !checkSizes(*context, *command) ||
      !checkRange(*context, *command, "accumulate", command->ints[4], 0, 2) ||
      !checkGradientTypes(*context, *command))
    return;
  bool hasFlag = command->ints[4] == kRuntimeFlag;
  if (!checkCounts(*context, *command, 3 + hasFlag, 0, 0))
    return;
  int64_t count = command->ints[0], rows = command->ints[1];
  int64_t width = command->ints[2];
  Indices ids(buffers[1], command->ints[3]);
  if (!checkIds(*context, *command, ids, count, rows))
    return;
  const Loops &loops = loopsOf(*context);
  FloatBuffer dout = {buffers[0], command->ints[5]};
  FloatBuffer dtable = {buffers[2], command->ints[6]};
  bool adds =
      addsToDestination(command->ints[4], hasFlag ? buffers[3] : nullptr);
  if (!adds)
    context->parallelFor(rows * width, kElementGrain, [&](RangePart part) {
      std::memset(dtable.at(part.begin), 0,
                  (part.end - part.begin) * floatBytes(dtable.dtype));
    });
  if (!dtable.isWide())
    return context->parallelFor(width, kColumnGrain, [&](RangePart part) {
      addInOrder(loops, ids, count, width, dout, dtable, part);
    });
  if (!context->reserveScratch(1, Groups::bytesFor(count, rows)))
    return;
  Groups groups(ids, count, rows, context->scratch(0));
  context->parallelFor(width, kColumnGrain, [&](RangePart part) {
    addInGroups(loops, groups, width, dout, as<float>(dtable.data), part);
  });
}

extern "C" void weft_cpu_embedding_grad_scratch_bytes(const int64_t *ints,
                                                      int64_t *bytes,
                                                      int32_t /*threads*/) {
  if (ints[6] == WEFT_F32)
    raiseScratch(bytes, 1, Groups::bytesFor(ints[0], ints[1]));
}
