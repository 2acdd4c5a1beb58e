//===- Arguments.h - Reading and checking a command's arguments -*- C++ -*-===//

#ifndef WEFT_KERNELS_ARGUMENTS_H
#define WEFT_KERNELS_ARGUMENTS_H

#include "weft/Abi/CpuRoutineAbi.h"
#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Abi/RecordTypes.h"
#include "weft/Runtime/Execute/Context.h"

#include <string>

namespace weft {

/// Reports an internal error of such parts, with the routine and its place in
/// the model in front. Always false, the result of a check that fails.
template <typename... Parts>
bool failCommand(WeftContext &context, const WeftCommand &command,
                 const Parts &...parts) {
  context.fail(int(ExitCode::Internal),
               concat(placeOf(command), ": ", parts...));
  return false;
}

/// The same for an error with an exit code of its own (docs/reference/executable.md).
inline void failCommand(WeftContext &context, const WeftCommand &command,
                        const Error &error) {
  context.fail(error.exitStatus(), placeOf(command) + ": " + error.where(),
               error.hintText());
}

/// Whether the command has at least that many buffers before its workspace.
inline bool checkBuffers(WeftContext &context, const WeftCommand &command,
                         int64_t wanted) {
  int64_t count = command.numBuffers - (command.workspaceBytes > 0);
  if (count >= wanted)
    return true;
  return failCommand(context, command, "expects ", wanted, " buffers, but got ",
                     count);
}

/// Why findRecord refuses the record of a command.
template <WeftCommandKind Kind>
std::string describeWrongRecord(const WeftCommand &command) {
  using Record = RecordOf<Kind>;
  auto numbered = [](int64_t kind) {
    return std::string(kindName(kind)) + " (" + std::to_string(kind) + ")";
  };
  if (command.kind != Kind)
    return "expects a command of kind " + numbered(Kind) + ", but got " +
           numbered(command.kind);
  const int64_t bytes = command.record ? command.recordBytes : 0;
  std::string wanted = std::to_string(kRecordBytes<Record>) + " bytes";
  if constexpr (kEntryBytes<Record> != 0) {
    if (bytes >= static_cast<int64_t>(sizeof(Record)))
      wanted +=
          concat(" and ", static_cast<const Record *>(command.record)->count,
                 " entries of ", kEntryBytes<Record>);
  }
  return "expects a record of " + wanted + ", but got " + std::to_string(bytes);
}

/// The record of a command of that kind; reports a wrong one and gives null.
template <WeftCommandKind Kind>
const RecordOf<Kind> *recordOf(WeftContext &context,
                               const WeftCommand &command) {
  const RecordOf<Kind> *record = findRecord<Kind>(command);
  if (!record)
    failCommand(context, command, describeWrongRecord<Kind>(command));
  return record;
}

/// Whether argument `value` called `name` lies in [low, high].
inline bool checkRange(WeftContext &context, const WeftCommand &command,
                       const char *name, int64_t value, int64_t low,
                       int64_t high = INT64_MAX) {
  if (value >= low && value <= high)
    return true;
  return failCommand(context, command, "expects ", name, " of at least ", low,
                     high == INT64_MAX ? ""
                                       : " and at most " + std::to_string(high),
                     ", but got ", value);
}

/// Whether argument `value` called `name` is a probability.
inline bool checkProbability(WeftContext &context, const WeftCommand &command,
                             const char *name, double value) {
  if (value >= 0.0 && value <= 1.0)
    return true;
  return failCommand(context, command, "expects ", name, " in [0, 1], but got ",
                     value);
}

/// The workspace of a command, its last buffer; reports one of fewer bytes than
/// `wanted` and gives null.
inline char *workspaceOf(WeftContext &context, const WeftCommand &command,
                         void *const *buffers, int64_t wanted) {
  if (command.workspaceBytes >= wanted && command.numBuffers > 0)
    return static_cast<char *>(buffers[command.numBuffers - 1]);
  failCommand(context, command, "expects a workspace of at least ", wanted,
              " bytes, but got ", command.workspaceBytes);
  return nullptr;
}

template <typename T> T *as(void *buffer) { return static_cast<T *>(buffer); }
template <typename T> T scalar(const void *buffer) {
  return *static_cast<const T *>(buffer);
}

/// Whether to add to the destination, from a WeftAccumulate and, for
/// WEFT_ADD_IF_FLAG, the flag buffer.
inline bool addsToDestination(int64_t accumulate, const void *flag) {
  return accumulate == WEFT_ADD_IF_FLAG ? scalar<float>(flag) != 0.0f
                                        : accumulate == WEFT_ADD;
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
  return failCommand(context, command,
                     "expects indices of dtype i32 (5) or i64 (6), but got ",
                     dtype);
}

/// A type of the floats that routines work with.
struct FloatFormat {
  const char *name;
  int64_t bytes;    // of an element
  uint64_t nanBits; // of a quiet NaN, repeated to fill the number
};

/// The format of a WeftDType; null for a type that no routine takes.
inline const FloatFormat *findFloatFormat(int64_t dtype) {
  static constexpr FloatFormat f32 = {"f32", 4, 0x7fc000007fc00000u};
  static constexpr FloatFormat f16 = {"f16", 2, 0x7e007e007e007e00u};
  static constexpr FloatFormat bf16 = {"bf16", 2, 0x7fc07fc07fc07fc0u};
  switch (dtype) {
  case WEFT_F32:
    return &f32;
  case WEFT_F16:
    return &f16;
  case WEFT_BF16:
    return &bf16;
  default:
    return nullptr;
  }
}

/// Bytes of an element of a type that checkFloatType has accepted.
inline int64_t floatBytes(int64_t dtype) {
  return findFloatFormat(dtype)->bytes;
}

/// Whether `dtype` is f32, f16 or bf16.
inline bool isFloatType(int64_t dtype) {
  return findFloatFormat(dtype) != nullptr;
}

/// Whether the argument called `name` is a dtype of floats.
inline bool checkFloatType(WeftContext &context, const WeftCommand &command,
                           const char *name, int64_t dtype) {
  if (isFloatType(dtype))
    return true;
  return failCommand(context, command, "expects ", name,
                     " of dtype f32 (0), f16 (2) or bf16 (3), but got ", dtype);
}

} // namespace weft

#endif // WEFT_KERNELS_ARGUMENTS_H
