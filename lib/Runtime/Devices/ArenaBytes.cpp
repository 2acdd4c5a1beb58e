//===- ArenaBytes.cpp - Bytes of tensors, wherever they are ---------------===//

#include "weft/Runtime/Devices/ArenaBytes.h"

#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>

using namespace weft;

static constexpr int64_t kPieceBytes = int64_t(16) << 20;

Status weft::readArena(
    const WeftContext &context, int64_t offset, int64_t bytes,
    const std::function<Status(const char *data, int64_t bytes)> &use) {
  Device &device = context.device();
  if (const char *view = device.hostView())
    return use(view + offset, bytes);
  std::vector<char> piece(size_t(std::min(kPieceBytes, bytes)));
  for (int64_t at = 0; at < bytes; at += kPieceBytes) {
    const int64_t part = std::min(kPieceBytes, bytes - at);
    if (Status s = device.copyOut(piece.data(), offset + at, part); !s)
      return s;
    if (Status s = use(piece.data(), part); !s)
      return s;
  }
  return Status::success();
}

Status weft::writeArena(
    const WeftContext &context, int64_t offset, int64_t bytes,
    const std::function<Status(char *out, int64_t at, int64_t bytes)> &fill) {
  Device &device = context.device();
  if (char *view = device.hostView())
    return fill(view + offset, /*at=*/0, bytes);
  std::vector<char> piece(size_t(std::min(kPieceBytes, bytes)));
  for (int64_t at = 0; at < bytes; at += kPieceBytes) {
    const int64_t part = std::min(kPieceBytes, bytes - at);
    if (Status s = fill(piece.data(), at, part); !s)
      return s;
    if (Status s = device.copyIn(offset + at, piece.data(), part); !s)
      return s;
  }
  return Status::success();
}

Expected<ArenaView> ArenaView::of(const WeftContext &context, int64_t offset,
                                  int64_t bytes) {
  Device &device = context.device();
  ArenaView view;
  if (const char *all = device.hostView()) {
    view.place = all + offset;
    return view;
  }
  view.copy.resize(size_t(bytes));
  if (Status s = device.copyOut(view.copy.data(), offset, bytes); !s)
    return s.takeError();
  return view;
}

Expected<double> weft::loadArenaNumber(const WeftContext &context,
                                       int64_t offset, int32_t dtype) {
  char bytes[8] = {};
  if (Status s = context.device().copyOut(bytes, offset, dtypeBytes(dtype)); !s)
    return s.takeError();
  return loadNumber(bytes, dtype);
}
