//===- Ports.cpp - Scalars in and out of a program ------------------------===//

#include "weft/Runtime/Devices/Ports.h"

#include "weft/Abi/Names.h"
#include "weft/Formats/ProgramPorts.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/RankMeetings.h"

#include <algorithm>
#include <cstring>

using namespace weft;

double weft::loadNumber(const void *address, int32_t dtype) {
  double number = 0.0;
  withElement(dtype, [&](auto element) {
    typename decltype(element)::Bits bits;
    std::memcpy(&bits, address, sizeof bits);
    number = element.number(bits);
  });
  return number;
}

template <typename Number>
static void store(void *address, int32_t dtype, Number value) {
  withElement(dtype, [&](auto element) {
    auto bits = element.make(value);
    std::memcpy(address, &bits, sizeof bits);
  });
}

void weft::storeNumber(void *address, int32_t dtype, double value) {
  store(address, dtype, value);
}

double weft::readNumber(const WeftContext &context, const WeftPort &port,
                        int64_t index) {
  return loadNumber(context.device().outputBytes(port) +
                        index * dtypeBytes(port.dtype),
                    port.dtype);
}

static char *placeOf(const WeftContext &context, const WeftPort &port,
                     int64_t index) {
  return context.device().inputBytes(port) + index * dtypeBytes(port.dtype);
}

void weft::writeNumber(const WeftContext &context, const WeftPort &port,
                       double value, int64_t index) {
  store(placeOf(context, port, index), port.dtype, value);
}

void weft::writeInteger(const WeftContext &context, const WeftPort &port,
                        int64_t value, int64_t index) {
  store(placeOf(context, port, index), port.dtype, value);
}

void weft::setInput(const WeftContext &context, const WeftProgram &program,
                    const char *name, double value) {
  if (const WeftPort *port = WeftContext::findInput(program, name))
    writeNumber(context, *port, value);
}

std::vector<WeftPort> weft::dataInputs(const WeftProgram &program) {
  std::vector<WeftPort> ports;
  for (const WeftPort &port : inputsOf(program))
    if (!isFilledByHost(port.name))
      ports.push_back(port);

  return ports;
}

/// A failure of a command becomes an error.
static Status checkRun(WeftContext &context, const WeftProgram &program,
                       bool isDone) {
  if (isDone)
    return Status::success();
  return context.takeError(std::string("program ") + program.symbol + ": ");
}

/// A program learns its rank if it asks for it.
static void writeRank(const WeftContext &context, const WeftProgram &program) {
  if (const WeftPort *rank = WeftContext::findInput(program, names::kRank))
    writeInteger(context, *rank, context.rank());
}

Status weft::runChecked(WeftContext &context, const WeftProgram &program) {
  writeRank(context, program);
  return checkRun(context, program, context.device().run(context, program));
}

Status weft::startChecked(WeftContext &context, const WeftProgram &program) {
  writeRank(context, program);
  return checkRun(context, program, context.device().start(context, program));
}

Status weft::finishChecked(WeftContext &context, const WeftProgram &program) {
  return checkRun(context, program, context.device().finish(context));
}

//===- Bytes of the arena -------------------------------------------------===//

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

//===- Devices ------------------------------------------------------------===//

Device::~Device() = default;

static Error hasNoAlgorithms() {
  return internalError("expects a device whose products have algorithms");
}

Expected<std::string> Device::findAlgorithms(WeftContext &) {
  return hasNoAlgorithms();
}

Status Device::useAlgorithms(WeftContext &, const std::string &) {
  return hasNoAlgorithms();
}

Expected<int64_t> Device::tune(WeftContext &, const std::string &) {
  return usageError("--tune expects a program with products on a CUDA device, "
                    "but got one without");
}

bool Device::run(WeftContext &context, const WeftProgram &program) {
  while (runsInFlight() > 0)
    if (!finish(context))
      return false;
  return start(context, program) && finish(context);
}

Error weft::failTogether(RankMeetings &meetings, Error own, FailureCause cause,
                         double seconds) {
  auto place = meetings.placeIn(0);
  // The others hear that this rank has left, and has said why.
  if (!place || cause == FailureCause::Own)
    return own;
  meetings.setTimeout(seconds);
  auto all = meetings.gather(0, int(cause), "an exchange of devices");
  if (!all)
    return communicationError(all.error().message());
  const int speaker =
      int(std::min_element(all->begin(), all->end()) - all->begin());
  if (speaker != place->rank)
    meetings.leaveWordTo(speaker);
  return own;
}
