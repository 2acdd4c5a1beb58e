//===- Arguments.h - Reading and checking a command's arguments -*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_ARGUMENTS_H
#define WEFT_KERNELS_CPU_ARGUMENTS_H

#include "weft/Runtime/Context.h"
#include "weft/Runtime/Library.h"

#include <string>

namespace weft {

/// Exit codes a routine reports (docs/executable.md).
enum ErrorCode {
  kInputError = 3,
  kNumericsError = 6,
  kDeviceError = 9,
  kInternalError = 70
};

/// Values of the accumulate argument.
enum Accumulate { kOverwrite = 0, kAdd = 1, kRuntimeFlag = 2 };

/// Reports `message` with the routine and its place in the model in front.
inline void failCommand(WeftContext &context, const WeftCommand &command,
                        int code, const std::string &message) {
  std::string text = command.name ? command.name : "library routine";
  if (command.scope && command.scope[0])
    text += std::string(" in ") + command.scope;
  context.fail(code, text + ": " + message);
}

/// Whether the command has at least that many arguments of each sort.
inline bool checkCounts(WeftContext &context, const WeftCommand &command,
                        int64_t buffers, int64_t ints, int64_t floats) {
  auto enough = [&](const char *what, int64_t wanted, int64_t got) {
    if (got < wanted)
      failCommand(context, command, kInternalError,
                  "expects " + std::to_string(wanted) + " " + what +
                      ", but got " + std::to_string(got));
    return got >= wanted;
  };
  return enough("buffers", buffers, command.numBuffers) &&
         enough("ints", ints, command.numInts) &&
         enough("floats", floats, command.numFloats);
}

/// Whether argument `value` called `name` lies in [low, high].
inline bool checkRange(WeftContext &context, const WeftCommand &command,
                       const char *name, int64_t value, int64_t low,
                       int64_t high = INT64_MAX) {
  if (value >= low && value <= high)
    return true;
  std::string rule =
      std::string("expects ") + name + " of at least " + std::to_string(low);
  if (high != INT64_MAX)
    rule += " and at most " + std::to_string(high);
  failCommand(context, command, kInternalError,
              rule + ", but got " + std::to_string(value));
  return false;
}

/// Whether argument `value` called `name` is a probability.
inline bool checkProbability(WeftContext &context, const WeftCommand &command,
                             const char *name, double value) {
  if (value >= 0.0 && value <= 1.0)
    return true;
  failCommand(context, command, kInternalError,
              std::string("expects ") + name + " in [0, 1], but got " +
                  std::to_string(value));
  return false;
}

/// Raises what the first `workers` workers need beside the arena to `each`.
inline void raiseScratch(int64_t *bytes, int64_t workers, int64_t each) {
  for (int64_t worker = 0; worker < workers; ++worker)
    bytes[worker] = bytes[worker] < each ? each : bytes[worker];
}

template <typename T> T *as(void *buffer) { return static_cast<T *>(buffer); }
template <typename T> T scalar(const void *buffer) {
  return *static_cast<const T *>(buffer);
}

/// Whether to add to the destination, from the accumulate argument and, for
/// kRuntimeFlag, the flag buffer.
inline bool addsToDestination(int64_t accumulate, const void *flag) {
  return accumulate == kRuntimeFlag ? scalar<float>(flag) != 0.0f
                                    : accumulate == kAdd;
}

/// Indices that are i32 or i64.
class Indices {
public:
  Indices(const void *data, int64_t dtype)
      : narrow(static_cast<const int32_t *>(data)),
        wide(static_cast<const int64_t *>(data)), isWide(dtype == WEFT_I64) {}
  int64_t operator[](int64_t i) const { return isWide ? wide[i] : narrow[i]; }

private:
  const int32_t *narrow;
  const int64_t *wide;
  bool isWide;
};

/// Whether `dtype` is one that Indices reads.
inline bool checkIndexType(WeftContext &context, const WeftCommand &command,
                           int64_t dtype) {
  if (dtype == WEFT_I32 || dtype == WEFT_I64)
    return true;
  failCommand(context, command, kInternalError,
              "expects indices of dtype i32 (5) or i64 (6), but got " +
                  std::to_string(dtype));
  return false;
}

} // namespace weft

#endif // WEFT_KERNELS_CPU_ARGUMENTS_H
