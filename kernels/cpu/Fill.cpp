//===- Fill.cpp - Constants and accumulation ------------------------------===//

#include "Arguments.h"
#include "FloatRuns.h"

#include "weft/Runtime/Elements.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

void failType(WeftContext &context, const WeftCommand &command) {
  failCommand(context, command, kInternalError,
              "expects dtype f32, f64, f16, bf16, i1, i32 or i64, but got " +
                  std::to_string(command.ints[0]));
}

bool isFloat(int64_t dtype) { return isFloatType(dtype) || dtype == WEFT_F64; }

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_fill(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  if (!checkCounts(*context, *command, 1, 2, 1) ||
      !checkRange(*context, *command, "count", command->ints[1], 0))
    return;
  bool known = withElement(command->ints[0], [&](auto element) {
    auto value = element.make(command->floats[0]);
    auto *to = as<decltype(value)>(buffers[0]);
    context->parallelFor(command->ints[1], kElementGrain, [&](RangePart part) {
      std::fill(to + part.begin, to + part.end, value);
    });
  });
  if (!known)
    failType(*context, *command);
}

extern "C" void weft_cpu_constant(WeftContext *context,
                                  const WeftCommand *command,
                                  void *const *buffers) {
  if (!checkCounts(*context, *command, 1, 2, 0) ||
      !checkRange(*context, *command, "count", command->ints[1], 0))
    return;
  int64_t dtype = command->ints[0], count = command->ints[1];
  if (!checkCounts(*context, *command, 1, isFloat(dtype) ? 2 : 2 + count,
                   isFloat(dtype) ? count : 0))
    return;
  bool known = withElement(dtype, [&](auto element) {
    auto *to = as<typename decltype(element)::Bits>(buffers[0]);
    for (int64_t i = 0; i < count; ++i)
      if constexpr (element.isFloat)
        to[i] = element.make(command->floats[i]);
      else
        to[i] = element.make(command->ints[2 + i]);
  });
  if (!known)
    failType(*context, *command);
}

extern "C" void weft_cpu_accumulate(WeftContext *context,
                                    const WeftCommand *command,
                                    void *const *buffers) {
  if (!checkCounts(*context, *command, 4, 2, 0) ||
      !checkRange(*context, *command, "count", command->ints[0], 0) ||
      !checkFloatType(*context, *command, "values", command->ints[1]))
    return;
  const Loops &loops = loopsOf(*context);
  int64_t dtype = command->ints[1];
  FloatBuffer old = {buffers[0], dtype}, value = {buffers[1], dtype};
  FloatBuffer out = {buffers[3], dtype};
  bool adds = scalar<float>(buffers[2]) != 0.0f;
  if (!adds && out.data == value.data)
    return;
  context->parallelFor(command->ints[0], kElementGrain, [&](RangePart part) {
    if (!adds) {
      std::memcpy(out.at(part.begin), value.at(part.begin),
                  (part.end - part.begin) * floatBytes(dtype));
      return;
    }
    FloatRun left(loops, old), right(loops, value), result(loops, out);
    forEachRun(part.begin, part.end, [&](int64_t at, int64_t count) {
      loops.accumulate(count, left.read(at, count), right.read(at, count),
                       result.target(at));
      result.write(at, count);
    });
  });
}
