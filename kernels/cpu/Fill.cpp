//===- Fill.cpp - Constants and accumulation ------------------------------===//

#include "Arguments.h"
#include "FloatRuns.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace weft {
namespace {

/// The bit pattern of an f16 or bf16.
struct Low {
  uint16_t bits;
};

/// The element of that type and dtype that holds a number.
template <typename T>
T makeElement(const Loops &loops, int64_t dtype, double number) {
  if constexpr (std::is_same_v<T, Low>) {
    Low low;
    float wide = static_cast<float>(number);
    loops.narrow(static_cast<int>(dtype), 1, &wide, &low.bits);
    return low;
  } else {
    return static_cast<T>(number);
  }
}

/// Calls body(T{}) with the element type of `dtype`; false if there is none.
template <typename Body> bool withType(int64_t dtype, Body body) {
  switch (dtype) {
  case WEFT_F16:
  case WEFT_BF16:
    return body(Low()), true;
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
  bool known = withType(command->ints[0], [&](auto type) {
    using T = decltype(type);
    T value =
        makeElement<T>(loopsOf(*context), command->ints[0], command->floats[0]);
    T *to = as<T>(buffers[0]);
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
  bool known = withType(dtype, [&](auto type) {
    using T = decltype(type);
    T *to = as<T>(buffers[0]);
    if (isFloat(dtype))
      for (int64_t i = 0; i < count; ++i)
        to[i] = makeElement<T>(loopsOf(*context), dtype, command->floats[i]);
    else if constexpr (!std::is_same_v<T, Low>)
      for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<T>(command->ints[2 + i]);
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
