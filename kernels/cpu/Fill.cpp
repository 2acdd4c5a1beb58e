//===- Fill.cpp - Constants and accumulation ------------------------------===//

#include "Arguments.h"
#include "Dispatch.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// Calls body(T{}) with the element type of `dtype`; false if there is none.
template <typename Body> bool withType(int64_t dtype, Body body) {
  switch (dtype) {
  case WEFT_F32:
    return body(float()), true;
  case WEFT_F64:
    return body(double()), true;
  case WEFT_I1:
    return body(uint8_t()), true;
  case WEFT_I32:
    return body(int32_t()), true;
  case WEFT_I64:
    return body(int64_t()), true;
  default:
    return false;
  }
}

void failType(WeftContext &context, const WeftCommand &command) {
  failCommand(context, command, kInternalError,
              "expects dtype f32, f64, i1, i32 or i64, but got " +
                  std::to_string(command.ints[0]));
}

bool isFloat(int64_t dtype) { return dtype == WEFT_F32 || dtype == WEFT_F64; }

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_fill(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  if (!checkCounts(*context, *command, 1, 2, 1) ||
      !checkRange(*context, *command, "count", command->ints[1], 0))
    return;
  double value = command->floats[0];
  bool known = withType(command->ints[0], [&](auto type) {
    using T = decltype(type);
    T *to = as<T>(buffers[0]);
    context->parallelFor(command->ints[1], kElementGrain, [&](RangePart part) {
      std::fill(to + part.begin, to + part.end, static_cast<T>(value));
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
  bool known = withType(dtype, [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < count; ++i)
      as<T>(buffers[0])[i] = isFloat(dtype)
                                 ? static_cast<T>(command->floats[i])
                                 : static_cast<T>(command->ints[2 + i]);
  });
  if (!known)
    failType(*context, *command);
}

extern "C" void weft_cpu_accumulate(WeftContext *context,
                                    const WeftCommand *command,
                                    void *const *buffers) {
  if (!checkCounts(*context, *command, 4, 1, 0) ||
      !checkRange(*context, *command, "count", command->ints[0], 0))
    return;
  const Loops &loops = loopsOf(*context);
  const float *old = as<float>(buffers[0]), *value = as<float>(buffers[1]);
  float *out = as<float>(buffers[3]);
  bool adds = scalar<float>(buffers[2]) != 0.0f;
  if (!adds && out == value)
    return;
  context->parallelFor(command->ints[0], kElementGrain, [&](RangePart part) {
    int64_t count = part.end - part.begin;
    if (adds)
      loops.accumulate(count, old + part.begin, value + part.begin,
                       out + part.begin);
    else
      std::memcpy(out + part.begin, value + part.begin, count * sizeof(float));
  });
}
