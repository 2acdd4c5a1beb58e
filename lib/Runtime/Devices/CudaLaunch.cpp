//===- CudaLaunch.cpp - Work for a CUDA device, from its routines ---------===//

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/Launch.h"

using namespace weft;

static CudaDevice &deviceOf(WeftContext &context) {
  return static_cast<CudaDevice &>(context.device());
}

/// Does work for a command, unless something went wrong before, and leaves a
/// failure in the context, with the command that it is of.
template <typename Work>
static void doFor(WeftContext &context, const WeftCommand &command, Work work) {
  if (context.failed())
    return;
  if (Status done = work(deviceOf(context)); !done)
    context.fail(done.error(), placeOf(command) + ": ");
}

void weft::launchKernel(WeftContext &context, const WeftCommand &command,
                        const char *name, const LaunchShape &shape,
                        void **arguments) {
  doFor(context, command, [&](CudaDevice &device) {
    return device.launch(name, shape, arguments);
  });
}

int weft::deviceNumber(WeftContext &context) {
  const CudaChip &chip = deviceOf(context).chipOf();
  return chip.major * 10 + chip.minor;
}

void *weft::deviceStream(WeftContext &context) {
  return deviceOf(context).stream();
}

void weft::copyOnDevice(WeftContext &context, const WeftCommand &command,
                        void *to, const void *from, int64_t bytes) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.copy(to, from, bytes); });
}

const void *weft::constantOnDevice(WeftContext &context,
                                   const WeftCommand &command) {
  return deviceOf(context).constantAt(command.record);
}

void weft::fillOnDevice(WeftContext &context, const WeftCommand &command,
                        void *to, unsigned char byte, int64_t bytes) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.fill(to, byte, bytes); });
}

Status weft::copyToDevice(WeftContext &context, void *to, const void *from,
                          int64_t bytes) {
  const int64_t offset =
      static_cast<char *>(to) - static_cast<char *>(context.at(0));
  return deviceOf(context).copyIn(offset, from, bytes);
}

Expected<float> weft::timeOnDevice(WeftContext &context,
                                   const std::function<void()> &work) {
  return deviceOf(context).time(work);
}

void weft::exchangeOnDevices(WeftContext &context, const WeftCommand &command,
                             const DeviceExchange &exchange) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.exchange(command, exchange); });
}

bool weft::canReduceOnDevices(WeftContext &context) {
  return deviceOf(context).canReduce();
}

void weft::reduceOnDevices(WeftContext &context, const WeftCommand &command,
                           const DeviceReduction &reduction) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.reduce(command, reduction); });
}

int weft::rankOnDevice(WeftContext &context, const WeftCommand &command,
                       const WeftRankGroup &among) {
  int rank = -1;
  doFor(context, command, [&](CudaDevice &device) {
    auto place = device.placeIn(among);
    if (!place)
      return Status(place.takeError());
    rank = place->rank;
    return Status::success();
  });
  return rank;
}

std::optional<float> weft::deviceFlag(WeftContext &context,
                                      const void *address) {
  return deviceOf(context).flagAt(address);
}

//===- Bytes between ranks of CUDA devices --------------------------------===//

// Ranks that are processes have a device each and a library between them
// (DeviceRanks.h). Ranks that are threads of one process share a device. Each
// has streams and an arena of its own and copies its pieces out of the arenas
// of its peers. The hosts meet to tell each other addresses and events; the
// streams wait for events, so that the same calls run at once or become edges
// of one graph of all ranks.

namespace {
/// A rank's part of an exchange, as its peers need it.
struct Offer {
  const char *send;
  int64_t stride, bytes;
  CUevent ready, done;
};
} // namespace

Expected<RankMeetings::Place>
CudaDevice::placeIn(const WeftRankGroup &among) const {
  // Libraries plan before the ranks are joined.
  if (rehearses)
    return RankMeetings::Place{0, int(among.ranks)};
  if (!meetings)
    return internalError("expects ranks that are joined");
  auto place = meetings->placeIn(among.group);
  if (place && place->ranks != int(among.ranks))
    return internalError("expects ", among.ranks, " ranks, but got ",
                         place->ranks);
  return place;
}

/// The events of the exchanges of a group in the current stream.
Expected<CudaDevice::ExchangeEvents *>
CudaDevice::exchangeEventsOf(int64_t group) {
  ExchangeEvents &known = exchanges[{group, currentStream}];
  for (CudaEvent *event : {&known.ready, &known.done}) {
    if (*event)
      continue;
    if (Status s = assign(makeEvent(cuda), *event); !s)
      return s.takeError();
  }
  return &known;
}

/// Copies the pieces of all peers, and its own one unless it is there.
static Status copyPieces(CudaDevice &device, const std::vector<Offer> &offers,
                         int rank, void *receive, int64_t bytes) {
  for (size_t i = 0; i < offers.size(); ++i) {
    // Each rank begins with another peer.
    const size_t peer = (size_t(rank) + i) % offers.size();
    const char *from = offers[peer].send + rank * offers[peer].stride;
    char *to = static_cast<char *>(receive) + int64_t(peer) * bytes;
    if (from == to)
      continue;
    if (Status s = device.copy(to, from, bytes); !s)
      return s;
  }
  return Status::success();
}

Status CudaDevice::waitForAll(const std::vector<CUevent> &all) {
  for (CUevent event : all)
    if (Status s = cuda.cuStreamWaitEvent(stream(), event, 0u); !s)
      return s;
  return Status::success();
}

/// A piece is read between two meetings: after the first one all ranks have
/// recorded that theirs are ready, after the second that they have read. An
/// event is recorded again only when all ranks have come to a later meeting, so
/// that every wait for it has been given to its stream.
Status CudaDevice::exchange(const WeftCommand &command,
                            const DeviceExchange &wanted) {
  auto place = placeIn(wanted.among);
  if (!place)
    return place.takeError();
  if (rehearses)
    return Status::success();
  if (watch)
    return watch->exchange(command, int(currentStream), stream(),
                           [&] { return ranks->exchange(wanted, stream()); });
  const std::string title = placeOf(command);
  auto own = exchangeEventsOf(wanted.among.group);
  if (!own)
    return own.takeError();
  const CUevent ready = (*own)->ready.get(), done = (*own)->done.get();
  if (Status s = cuda.cuEventRecord(ready, stream()); !s)
    return s;
  const Offer offer = {static_cast<const char *>(wanted.send), wanted.stride,
                       wanted.bytes, ready, done};
  auto offers = meet(wanted.among.group, offer,
                     title + ", " + std::to_string(wanted.bytes) + " bytes");
  if (!offers)
    return offers.takeError();
  std::vector<CUevent> allReady, allDone;
  for (const Offer &each : *offers) {
    allReady.push_back(each.ready);
    allDone.push_back(each.done);
  }
  if (Status s = waitForAll(allReady); !s)
    return s;
  if (Status s =
          copyPieces(*this, *offers, place->rank, wanted.receive, wanted.bytes);
      !s)
    return s;
  if (Status s = cuda.cuEventRecord(done, stream()); !s)
    return s;
  auto left = meet(wanted.among.group, place->rank, title + ", its end");
  if (!left)
    return left.takeError();
  return waitForAll(allDone);
}

Status CudaDevice::reduce(const WeftCommand &command,
                          const DeviceReduction &wanted) {
  if (auto place = placeIn(wanted.among); !place)
    return place.takeError();
  if (rehearses)
    return Status::success();
  if (!watch)
    return internalError("expects a library between the devices");
  return watch->exchange(command, int(currentStream), stream(),
                         [&] { return ranks->reduce(wanted, stream()); });
}
