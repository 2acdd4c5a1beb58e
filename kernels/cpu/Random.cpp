//===- Random.cpp - Initial values and dropout ----------------------------===//

#include "FloatRuns.h"
#include "weft/Runtime/Philox.h"

#include <algorithm>

namespace weft {
namespace {

/// Elements per part; a multiple of 4 keeps parts on block borders.
constexpr int64_t kGrain = 4096;

bool checkRandom(WeftContext &context, const WeftCommand &command) {
  return checkCounts(context, command, 2, 3, 2) &&
         checkRange(context, command, "count", command.ints[0], 0) &&
         checkRange(context, command, "firstElement", command.ints[2], 0);
}

PhiloxKey keyOf(const WeftCommand &command, const void *seed) {
  return philoxKey(static_cast<uint64_t>(scalar<int64_t>(seed)),
                   static_cast<uint64_t>(command.ints[1]));
}

void runDropout(WeftContext &context, const WeftCommand &command,
                void *const *buffers) {
  if (!checkCounts(context, command, 3, 4, 1) ||
      !checkRange(context, command, "rows", command.ints[0], 0) ||
      !checkRange(context, command, "rowSize", command.ints[1], 1) ||
      !checkFloatType(context, command, "x and out", command.ints[3]) ||
      !checkProbability(context, command, "p", command.floats[0]))
    return;
  const int64_t *rng = as<int64_t>(buffers[1]);
  PhiloxKey key = philoxKey(static_cast<uint64_t>(rng[0]),
                            static_cast<uint64_t>(command.ints[2]));
  uint64_t firstRow = static_cast<uint64_t>(rng[1]);
  uint32_t threshold = philoxDropThreshold(command.floats[0]);
  float scale = philoxKeepScale(command.floats[0]);
  int64_t size = command.ints[1];
  const Loops &loops = loopsOf(context);
  FloatBuffer x = {buffers[0], command.ints[3]};
  FloatBuffer out = {buffers[2], command.ints[3]};
  int64_t longest = x.isWide() ? size : kRunLength;
  // A part may begin and end inside rows.
  context.parallelFor(command.ints[0] * size, kGrain, [&](RangePart part) {
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

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_random_normal(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers) {
  if (!checkRandom(*context, *command))
    return;
  PhiloxKey key = keyOf(*command, buffers[0]);
  int64_t first = command->ints[2];
  const Loops &loops = loopsOf(*context);
  context->parallelFor(command->ints[0], kGrain, [&](RangePart part) {
    loops.normals(key.low, key.high, first + part.begin, first + part.end,
                  static_cast<float>(command->floats[0]),
                  static_cast<float>(command->floats[1]),
                  as<float>(buffers[1]) + part.begin);
  });
}

extern "C" void weft_cpu_random_uniform(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  if (!checkRandom(*context, *command))
    return;
  PhiloxKey key = keyOf(*command, buffers[0]);
  int64_t first = command->ints[2];
  const Loops &loops = loopsOf(*context);
  double low = command->floats[0], width = command->floats[1] - low;
  context->parallelFor(command->ints[0], kGrain, [&](RangePart part) {
    loops.uniforms(key.low, key.high, first + part.begin, first + part.end,
                   static_cast<float>(low), static_cast<float>(width),
                   as<float>(buffers[1]) + part.begin);
  });
}

extern "C" void weft_cpu_dropout(WeftContext *context,
                                 const WeftCommand *command,
                                 void *const *buffers) {
  runDropout(*context, *command, buffers);
}

extern "C" void weft_cpu_dropout_grad(WeftContext *context,
                                      const WeftCommand *command,
                                      void *const *buffers) {
  runDropout(*context, *command, buffers);
}
