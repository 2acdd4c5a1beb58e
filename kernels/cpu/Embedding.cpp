//===- Embedding.cpp - Gather and scatter-add of table rows ---------------===//

#include "Arguments.h"
#include "Dispatch.h"

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

/// Columns a part of the scatter-add takes: whole cache lines.
constexpr int64_t kColumnGrain = 64;

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_embedding(WeftContext *context,
                                   const WeftCommand *command,
                                   void *const *buffers) {
  if (!checkCounts(*context, *command, 3, 4, 0) ||
      !checkSizes(*context, *command))
    return;
  int64_t count = command->ints[0], width = command->ints[2];
  Indices ids(buffers[1], command->ints[3]);
  if (!checkIds(*context, *command, ids, count, command->ints[1]))
    return;
  const float *table = as<float>(buffers[0]);
  float *out = as<float>(buffers[2]);
  int64_t grain = std::max<int64_t>(1, kElementGrain / width);
  context->parallelFor(count, grain, [&](RangePart part) {
    for (int64_t n = part.begin; n < part.end; ++n)
      std::memcpy(out + n * width, table + ids[n] * width,
                  width * sizeof(float));
  });
}

/// Threads take columns, so that every sum runs over n in order.
extern "C" void weft_cpu_embedding_grad(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  if (!checkCounts(*context, *command, 3, 5, 0) ||
      !checkSizes(*context, *command) ||
      !checkRange(*context, *command, "accumulate", command->ints[4], 0, 2))
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
  const float *dout = as<float>(buffers[0]);
  float *dtable = as<float>(buffers[2]);
  bool adds =
      addsToDestination(command->ints[4], hasFlag ? buffers[3] : nullptr);
  if (!adds)
    context->parallelFor(rows * width, kElementGrain, [&](RangePart part) {
      std::memset(dtable + part.begin, 0,
                  (part.end - part.begin) * sizeof(float));
    });
  context->parallelFor(width, kColumnGrain, [&](RangePart part) {
    for (int64_t n = 0; n < count; ++n)
      loops.addRows(part.end - part.begin, dout + n * width + part.begin,
                    dtable + ids[n] * width + part.begin);
  });
}
