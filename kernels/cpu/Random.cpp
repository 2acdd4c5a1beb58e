//===- Random.cpp - Initial values and dropout ----------------------------===//

#include "FloatRuns.h"
#include "weft/Runtime/Execute/Philox.h"

#include <algorithm>

namespace weft {
namespace {

/// Elements per part; a multiple of 4 keeps parts on block borders.
constexpr int64_t kGrain = 4096;

bool checkRandom(WeftContext &context, const WeftCommand &command,
                 const WeftRandomRecord &record) {
  return checkBuffers(context, command, 2) &&
         checkRange(context, command, "elements", record.elements, 0) &&
         checkRange(context, command, "firstElement", record.firstElement, 0);
}

PhiloxKey keyOf(const WeftRandomRecord &record, const void *seed) {
  return philoxKey(static_cast<uint64_t>(scalar<int64_t>(seed)),
                   static_cast<uint64_t>(record.nameHash));
}

bool checkDropout(WeftContext &context, const WeftCommand &command,
                  const WeftDropoutRecord &record) {
  return checkBuffers(context, command, 3) &&
         checkRange(context, command, "rows", record.rows, 0) &&
         checkRange(context, command, "rowSize", record.rowSize, 1) &&
         checkFloatType(context, command, "x and out", record.dtype) &&
         checkProbability(context, command, "probability", record.probability);
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_random_normal(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers) {
  const auto *record = recordOf<WEFT_RANDOM_NORMAL>(*context, *command);
  if (!record || !checkRandom(*context, *command, *record))
    return;
  PhiloxKey key = keyOf(*record, buffers[0]);
  int64_t first = record->firstElement;
  const Loops &loops = loopsOf(*context);
  context->parallelFor(record->elements, kGrain, [&](RangePart part) {
    loops.normals(key.low, key.high, first + part.begin, first + part.end,
                  static_cast<float>(record->first),
                  static_cast<float>(record->second),
                  as<float>(buffers[1]) + part.begin);
  });
}

extern "C" void weft_cpu_random_uniform(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  const auto *record = recordOf<WEFT_RANDOM_UNIFORM>(*context, *command);
  if (!record || !checkRandom(*context, *command, *record))
    return;
  PhiloxKey key = keyOf(*record, buffers[0]);
  int64_t first = record->firstElement;
  const Loops &loops = loopsOf(*context);
  double low = record->first, width = record->second - low;
  context->parallelFor(record->elements, kGrain, [&](RangePart part) {
    loops.uniforms(key.low, key.high, first + part.begin, first + part.end,
                   static_cast<float>(low), static_cast<float>(width),
                   as<float>(buffers[1]) + part.begin);
  });
}

extern "C" void weft_cpu_dropout(WeftContext *context,
                                 const WeftCommand *command,
                                 void *const *buffers) {
  const auto *record = recordOf<WEFT_DROPOUT>(*context, *command);
  if (!record || !checkDropout(*context, *command, *record))
    return;
  const int64_t *rng = as<int64_t>(buffers[1]);
  PhiloxKey key = philoxKey(static_cast<uint64_t>(rng[0]),
                            static_cast<uint64_t>(record->opId));
  uint64_t firstRow = static_cast<uint64_t>(rng[1]);
  uint32_t threshold = philoxDropThreshold(record->probability);
  float scale = philoxKeepScale(record->probability);
  int64_t size = record->rowSize;
  const Loops &loops = loopsOf(*context);
  FloatBuffer x = {buffers[0], record->dtype};
  FloatBuffer out = {buffers[2], record->dtype};
  int64_t longest = x.isWide() ? size : kRunLength;
  // A part may begin and end inside rows.
  context->parallelFor(record->rows * size, kGrain, [&](RangePart part) {
    FloatRun from(loops, x), to(loops, out);
    for (int64_t at = part.begin; at < part.end;) {
      int64_t row = at / size, begin = at % size;
      int64_t count = std::min({size - begin, part.end - at, longest});
      loops.dropout(key.low, key.high, firstRow + static_cast<uint64_t>(row),
                    begin, begin + count, threshold, scale,
                    from.read(at, count), to.target(at));
      to.write(at, count);
      at += count;
    }
  });
}
