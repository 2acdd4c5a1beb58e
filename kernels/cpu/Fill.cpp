//===- Fill.cpp - Constants and accumulation ------------------------------===//

#include "Arguments.h"
#include "FloatRuns.h"

#include "weft/Runtime/Execute/Elements.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace weft {
namespace {

void failType(WeftContext &context, const WeftCommand &command, int64_t dtype) {
  failCommand(context, command, kInternalError,
              "expects dtype f32, f64, f16, bf16, i1, i32 or i64, but got " +
                  std::to_string(dtype));
}

} // namespace
} // namespace weft

using namespace weft;

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
    failType(*context, *command, record->dtype);
}

extern "C" void weft_cpu_constant(WeftContext *context,
                                  const WeftCommand *command,
                                  void *const *buffers) {
  const auto *record = recordOf<WEFT_CONSTANT>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 1))
    return;
  bool known = withElement(record->dtype, [&](auto element) {
    using Number = std::conditional_t<element.isFloat, double, int64_t>;
    const Number *values = entriesOf<Number>(*record);
    auto *to = as<typename decltype(element)::Bits>(buffers[0]);
    for (int64_t i = 0; i < record->count; ++i)
      to[i] = element.make(values[i]);
  });
  if (!known)
    failType(*context, *command, record->dtype);
}

extern "C" void weft_cpu_accumulate(WeftContext *context,
                                    const WeftCommand *command,
                                    void *const *buffers) {
  const auto *record = recordOf<WEFT_ACCUMULATE>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 4) ||
      !checkRange(*context, *command, "elements", record->elements, 0) ||
      !checkFloatType(*context, *command, "values", record->dtype))
    return;
  const Loops &loops = loopsOf(*context);
  int64_t dtype = record->dtype;
  FloatBuffer old = {buffers[0], dtype}, value = {buffers[1], dtype};
  FloatBuffer out = {buffers[3], dtype};
  bool adds = scalar<float>(buffers[2]) != 0.0f;
  if (!adds && out.data == value.data)
    return;
  context->parallelFor(record->elements, kElementGrain, [&](RangePart part) {
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
