//===- NcclChecks.cpp - Checks of calls of the emulated NCCL --------------===//

#include "NcclObjects.h"

namespace weft::emulation {

size_t bytesOf(ncclDataType_t type) {
  static constexpr size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return bytes[type];
}

static std::string typeName(ncclDataType_t type) {
  static const char *const names[] = {
      "ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
      "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
      "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
  return names[type];
}

static std::string opName(ncclRedOp_t op) {
  static const char *const names[] = {"ncclSum", "ncclProd", "ncclMax",
                                      "ncclMin", "ncclAvg"};
  return names[op];
}

const char *entryOf(Kind kind) {
  static const char *const names[] = {
      "ncclAllGather", "ncclReduceScatter", "ncclAllReduce", "ncclAlltoAll",
      "ncclBroadcast", "ncclSend",          "ncclRecv"};
  return names[static_cast<int>(kind)];
}

std::string describe(const Operation &operation) {
  std::string text = std::string(entryOf(operation.kind)) + " of " +
                     std::to_string(operation.count) + " " +
                     typeName(operation.type);
  if (isReduction(operation.kind))
    text += " with " + opName(operation.op);
  if (operation.kind == Kind::Broadcast)
    text += " from root " + std::to_string(operation.peer);
  if (!isTransfer(operation.kind))
    text += " as collective " + std::to_string(operation.number);
  return text;
}

size_t Operation::bytes() const { return count * bytesOf(type); }

size_t bytesRead(const Operation &operation, int rank, int size) {
  switch (operation.kind) {
  case Kind::ReduceScatter:
  case Kind::AlltoAll:
    return operation.bytes() * static_cast<size_t>(size);
  case Kind::Broadcast:
    return rank == operation.peer ? operation.bytes() : 0;
  case Kind::Receive:
    return 0;
  default:
    return operation.bytes();
  }
}

size_t bytesWritten(const Operation &operation, int size) {
  switch (operation.kind) {
  case Kind::AllGather:
  case Kind::AlltoAll:
    return operation.bytes() * static_cast<size_t>(size);
  case Kind::Send:
    return 0;
  default:
    return operation.bytes();
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Failure checkNumbers(const Communicator &communicator,
                            const Operation &operation) {
  const int type = operation.type, op = operation.op;
  if (type < 0 || type >= ncclNumTypes)
    return {ncclInvalidArgument,
            "expects a data type, but got " + std::to_string(type)};
  if (op < 0 || op >= ncclNumOps)
    return {ncclInvalidArgument,
            "expects an operator, but got " + std::to_string(op)};
  if (isReduction(operation.kind) && type >= ncclFloat8e4m3)
    return {ncclInvalidArgument,
            "the emulation does not reduce " + typeName(operation.type)};
  if (operation.peer < 0 || operation.peer >= communicator.size)
    return {ncclInvalidArgument,
            "expects a rank below " + std::to_string(communicator.size) +
                ", but got " + std::to_string(operation.peer)};
  if (operation.count >
      (size_t{1} << 48) / static_cast<size_t>(communicator.size))
    return {ncclInvalidArgument, "expects at most 2^48 elements, but got " +
                                     std::to_string(operation.count)};
  return {};
}

static Failure checkBuffer(const void *place, size_t bytes, size_t alignment,
                           const std::string &name) {
  if (bytes == 0)
    return {};
  if (!place)
    return {ncclInvalidArgument, name + " is null"};
  if (reinterpret_cast<uintptr_t>(place) % alignment != 0)
    return {ncclInvalidArgument, name + " is not aligned to its elements of " +
                                     std::to_string(alignment) + " bytes"};
  auto hasMemory = driverFunction<int (*)(const void *, size_t)>(
      "weft_emulation_has_memory");
  if (!hasMemory(place, bytes))
    return {ncclInvalidArgument, name + " of " + std::to_string(bytes) +
                                     " bytes is not memory of the device"};
  return {};
}

/// Where `from` lies in place: the distance from `to`, or nothing.
static std::optional<ptrdiff_t> inPlaceOffset(const Operation &operation,
                                              int rank) {
  const auto own = static_cast<ptrdiff_t>(operation.bytes()) * rank;
  switch (operation.kind) {
  case Kind::AllGather:
    return own;
  case Kind::ReduceScatter:
    return -own;
  case Kind::AllReduce:
  case Kind::Broadcast:
    return 0;
  default:
    return std::nullopt;
  }
}

static Failure checkOverlap(const Communicator &communicator,
                            const Operation &operation) {
  const size_t read =
      bytesRead(operation, communicator.rank, communicator.size);
  const size_t written = bytesWritten(operation, communicator.size);
  auto from = reinterpret_cast<intptr_t>(operation.from);
  auto to = reinterpret_cast<intptr_t>(operation.to);
  if (read == 0 || written == 0 || from + static_cast<intptr_t>(read) <= to ||
      to + static_cast<intptr_t>(written) <= from)
    return {};
  std::optional<ptrdiff_t> offset = inPlaceOffset(operation, communicator.rank);
  if (offset && from - to == *offset)
    return {};
  return {ncclInvalidArgument,
          "the send buffer overlaps the receive buffer, " +
              std::to_string(from - to) + " bytes behind its begin; " +
              (offset ? "in place these are " + std::to_string(*offset)
                      : "there is no such call in place")};
}

Failure checkOperation(const Communicator &communicator,
                       const Operation &operation) {
  if (Failure failure = checkNumbers(communicator, operation))
    return failure;
  const size_t alignment = bytesOf(operation.type);
  if (Failure failure = checkBuffer(
          operation.from,
          bytesRead(operation, communicator.rank, communicator.size), alignment,
          "the send buffer"))
    return failure;
  if (Failure failure =
          checkBuffer(operation.to, bytesWritten(operation, communicator.size),
                      alignment, "the receive buffer"))
    return failure;
  return checkOverlap(communicator, operation);
}

} // namespace weft::emulation
