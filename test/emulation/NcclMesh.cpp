//===- NcclMesh.cpp - Connections of a communicator -----------------------===//

#include "NcclMesh.h"

#include "Fail.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Stops and sockets
//===----------------------------------------------------------------------===//

Stop::Stop() : event(eventfd(0, EFD_CLOEXEC)) {
  if (event < 0)
    fail(std::string("cannot make an event: ") + std::strerror(errno));
}

Stop::~Stop() { close(event); }

void Stop::set() {
  isStopped = true;
  const uint64_t one = 1;
  if (::write(event, &one, sizeof(one)) != sizeof(one))
    fail("cannot set an event");
}

bool isAnySet(const Stops &stops) {
  for (const std::shared_ptr<Stop> &stop : stops)
    if (stop->isSet())
      return true;
  return false;
}

void waitForStop(const Stops &stops) {
  waitFor({}, stops, [] { return false; }, [](size_t) { return ""; });
}

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(descriptor, other.descriptor);
  return *this;
}

Socket::~Socket() {
  if (isOpen())
    close(descriptor);
}

int Socket::release() {
  int released = descriptor;
  descriptor = -1;
  return released;
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

namespace {
struct FrameHead {
  Frame frame;
  uint32_t check;
  uint64_t bytes;
};
constexpr uint32_t kCheck = 0x77656674;
constexpr size_t kReadBytes = 256 << 10;
} // namespace

void Connection::post(Frame frame, const void *payload, size_t bytes) {
  if (isFlushed())
    outbox.clear(), numSent = 0;
  const FrameHead head = {frame, kCheck, bytes};
  outbox.append(reinterpret_cast<const char *>(&head), sizeof(head));
  outbox.append(static_cast<const char *>(payload), bytes);
}

std::string Connection::take(Frame frame) {
  std::string payload = std::move(inbox[frame].front());
  inbox[frame].pop_front();
  return payload;
}

void Connection::parse() {
  size_t begin = 0;
  FrameHead head;
  while (raw.size() - begin >= sizeof(head)) {
    std::memcpy(&head, raw.data() + begin, sizeof(head));
    if (head.check != kCheck)
      fail("a rank of the emulated NCCL has got a broken frame");
    if (raw.size() - begin - sizeof(head) < head.bytes)
      break;
    std::string payload = raw.substr(begin + sizeof(head), head.bytes);
    if (head.frame == Frame::Data)
      data += payload;
    else
      inbox[head.frame].push_back(std::move(payload));
    begin += sizeof(head) + head.bytes;
  }
  raw.erase(0, begin);
}

void Connection::read() {
  static thread_local auto *buffer = new std::string(kReadBytes, '\0');
  while (!hasEnded) {
    ssize_t got =
        recv(socket.get(), buffer->data(), buffer->size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      break;
    if (got <= 0)
      hasEnded = true;
    else
      raw.append(buffer->data(), static_cast<size_t>(got));
  }
  parse();
}

/// A write ignores errors: the read finds that the peer is gone, after it has
/// taken the peer's last bytes.
void Connection::write() {
  while (!isFlushed()) {
    ssize_t sent = send(socket.get(), outbox.data() + numSent,
                        outbox.size() - numSent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      break;
    numSent += static_cast<size_t>(sent);
  }
}

void Connection::move() {
  write();
  read();
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

static void pollFor(const std::vector<Connection *> &connections,
                    const Stops &stops, int listener) {
  std::vector<pollfd> entries = {{listener, POLLIN, 0}}; // ignored if negative
  for (Connection *connection : connections)
    if (!connection->isEnded())
      entries.push_back(
          {connection->descriptor(),
           static_cast<short>(POLLIN | (connection->isFlushed() ? 0 : POLLOUT)),
           0});
  for (const std::shared_ptr<Stop> &stop : stops)
    entries.push_back({stop->descriptor(), POLLIN, 0});
  poll(entries.data(), entries.size(), -1);
}

Failure waitFor(const std::vector<Connection *> &connections,
                const Stops &stops, const std::function<bool()> &step,
                const std::function<std::string(size_t)> &describe,
                int listener) {
  while (!isAnySet(stops)) {
    for (Connection *connection : connections)
      connection->move();
    if (step())
      return {};
    for (size_t i = 0; i < connections.size(); ++i)
      if (connections[i]->isEnded() && !connections[i]->has(Frame::Goodbye))
        return {ncclRemoteError, describe(i) + " has closed its connection"};
    pollFor(connections, stops, listener);
  }
  return {ncclInternalError, "the communicator was aborted"};
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

Mesh::Mesh(int rank, std::vector<std::unique_ptr<Connection>> peers)
    : ownRank(rank), peers(std::move(peers)) {}

void Mesh::forPeers(const std::function<void(int)> &visit) const {
  for (int rank = 0; rank < size(); ++rank)
    if (rank != ownRank)
      visit(rank);
}

Failure Mesh::wait(const Stops &stops, const std::function<bool()> &step) {
  std::vector<Connection *> all;
  std::vector<int> ranks;
  forPeers([&](int rank) {
    all.push_back(&peer(rank));
    ranks.push_back(rank);
  });
  return waitFor(all, stops, step, [&](size_t at) {
    return "rank " + std::to_string(ranks[at]);
  });
}

Failure Mesh::flush(const Stops &stops) {
  return wait(stops, [&] {
    bool isDone = true;
    forPeers([&](int rank) { isDone = isDone && peer(rank).isFlushed(); });
    return isDone;
  });
}

const char *callOf(Frame frame) {
  switch (frame) {
  case Frame::Split:
    return "ncclCommSplit";
  case Frame::Window:
    return "ncclCommWindowRegister";
  case Frame::Goodbye:
    return "ncclCommFinalize";
  case Frame::Send:
    return "ncclSend to this rank";
  case Frame::Receive:
    return "ncclRecv from this rank";
  default:
    return "a collective";
  }
}

std::optional<Frame> Mesh::findOther(int rank, Frame frame) {
  for (Frame other : {Frame::Collective, Frame::Split, Frame::Window,
                      Frame::Send, Frame::Receive, Frame::Goodbye})
    if (other != frame && peer(rank).has(other))
      return other;
  return std::nullopt;
}

Failure Mesh::exchange(const Stops &stops, Frame frame,
                       const std::string &payload,
                       std::vector<std::string> &payloads) {
  forPeers([&](int rank) {
    peer(rank).post(frame, payload.data(), payload.size());
  });
  Failure unequal;
  Failure failure = wait(stops, [&] {
    bool hasAll = true;
    forPeers([&](int rank) {
      if (peer(rank).has(frame)) {
        hasAll = hasAll && peer(rank).isFlushed();
        return;
      }
      hasAll = false;
      if (std::optional<Frame> other = findOther(rank, frame))
        unequal = {ncclInvalidUsage, "rank " + std::to_string(ownRank) +
                                         " calls " + callOf(frame) +
                                         ", but rank " + std::to_string(rank) +
                                         " calls " + callOf(*other)};
    });
    return hasAll || unequal;
  });
  if (failure || unequal)
    return failure ? failure : unequal;
  payloads.assign(peers.size(), payload);
  forPeers([&](int rank) {
    payloads[static_cast<size_t>(rank)] = peer(rank).take(frame);
  });
  return {};
}

Failure Mesh::look() {
  forPeers([&](int rank) { peer(rank).move(); });
  return findEnded();
}

Failure Mesh::findEnded() {
  Failure failure;
  forPeers([&](int rank) {
    if (peer(rank).isEnded() && !peer(rank).has(Frame::Goodbye))
      failure = {ncclRemoteError,
                 "rank " + std::to_string(rank) + " has closed its connection"};
  });
  return failure;
}

} // namespace weft::emulation
