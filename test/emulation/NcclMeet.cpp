//===- NcclMeet.cpp - Ranks of the emulated NCCL that meet ----------------===//
//
// The id of a communicator is the address of a socket of rank 0. The other
// ranks connect to it and say who they are; rank 0 checks that and tells all of
// them the addresses of all. Then each rank connects to the ranks before it.
//
//===----------------------------------------------------------------------===//

#include "Fail.h"
#include "NcclObjects.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

/// An address in the abstract namespace: nothing of it is on the disk.
static socklen_t fillAddress(sockaddr_un &address, const std::string &name) {
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                name.size());
}

static std::string makeName() {
  std::random_device random;
  char text[40];
  std::snprintf(text, sizeof(text), "weft-nccl-%d-%08x%08x",
                static_cast<int>(getpid()), random(), random());
  return text;
}

static Socket makeSocket() {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.isOpen())
    fail(std::string("cannot make a socket: ") + std::strerror(errno));
  return socket;
}

Listener::Listener() : socket(makeSocket()), name(makeName()) {
  sockaddr_un address;
  const socklen_t bytes = fillAddress(address, name);
  if (bind(socket.get(), reinterpret_cast<sockaddr *>(&address), bytes) != 0 ||
      listen(socket.get(), 1024) != 0)
    fail(std::string("cannot listen on a socket: ") + std::strerror(errno));
}

std::unique_ptr<Connection> Listener::accept() {
  pollfd entry = {socket.get(), POLLIN, 0};
  if (poll(&entry, 1, 0) != 1)
    return nullptr;
  Socket accepted(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!accepted.isOpen())
    return nullptr;
  return std::make_unique<Connection>(std::move(accepted));
}

/// Null if nobody listens there.
static std::unique_ptr<Connection> connectTo(const std::string &name) {
  Socket socket = makeSocket();
  sockaddr_un address;
  const socklen_t bytes = fillAddress(address, name);
  if (connect(socket.get(), reinterpret_cast<sockaddr *>(&address), bytes) != 0)
    return nullptr;
  return std::make_unique<Connection>(std::move(socket));
}

//===----------------------------------------------------------------------===//
// Ids
//===----------------------------------------------------------------------===//

namespace {
struct IdText {
  char magic[16];
  char address[40];
};
static_assert(sizeof(IdText) <= NCCL_UNIQUE_ID_BYTES);
constexpr char kMagic[16] = "weft emulation";

struct OwnListener {
  std::unique_ptr<Listener> listener;
  pid_t process; // a forked process has made none
};
} // namespace

static std::mutex idsMutex;

static std::map<std::string, OwnListener> &ownListeners() {
  static auto *all = new std::map<std::string, OwnListener>;
  return *all;
}

static IdText textOf(const ncclUniqueId &id) {
  IdText text;
  std::memcpy(&text, id.internal, sizeof(text));
  return text;
}

ncclUniqueId makeId() {
  auto listener = std::make_unique<Listener>();
  IdText text = {};
  std::memcpy(text.magic, kMagic, sizeof(kMagic));
  listener->address().copy(text.address, sizeof(text.address) - 1);
  ncclUniqueId id = {};
  std::memcpy(id.internal, &text, sizeof(text));
  std::lock_guard<std::mutex> lock(idsMutex);
  ownListeners()[text.address] = {std::move(listener), getpid()};
  return id;
}

bool isId(const ncclUniqueId &id) {
  IdText text = textOf(id);
  return std::memcmp(text.magic, kMagic, sizeof(kMagic)) == 0 &&
         text.address[sizeof(text.address) - 1] == 0;
}

std::unique_ptr<Listener> takeListener(const ncclUniqueId &id) {
  std::lock_guard<std::mutex> lock(idsMutex);
  auto found = ownListeners().find(textOf(id).address);
  if (found == ownListeners().end() || found->second.process != getpid())
    return nullptr;
  std::unique_ptr<Listener> listener = std::move(found->second.listener);
  ownListeners().erase(found);
  return listener;
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

namespace {
struct Answer {
  int32_t result = ncclSuccess, channels = 0;
  char text[240] = {};
  // The addresses follow: 40 bytes for each rank.
};

/// The connections of one rank that waits for the others.
struct Meeting {
  std::vector<std::unique_ptr<Connection>> connections; // by rank
  std::vector<std::unique_ptr<Connection>> unknown;     // have said nothing
  std::vector<std::optional<Hello>> hellos;             // by rank
  std::vector<Connection *> all;
  size_t numLeft;

  explicit Meeting(size_t size)
      : connections(size), hellos(size), numLeft(size - 1) {}

  void accept(Listener &listener) {
    while (std::unique_ptr<Connection> accepted = listener.accept()) {
      all.push_back(accepted.get());
      unknown.push_back(std::move(accepted));
    }
  }
};
} // namespace

static std::string rankText(int rank) { return "rank " + std::to_string(rank); }

/// Checks a rank against the known ranks.
static Failure checkHello(const Meeting &meeting, const Hello &hello,
                          int asker) {
  const auto size = static_cast<int>(meeting.hellos.size());
  if (hello.size != size)
    return {ncclInvalidUsage, rankText(asker) + " expects " +
                                  std::to_string(size) + " ranks, but " +
                                  rankText(hello.rank) + " expects " +
                                  std::to_string(hello.size)};
  for (const std::optional<Hello> &other : meeting.hellos) {
    if (!other)
      continue;
    if (other->rank == hello.rank)
      return {ncclInvalidUsage,
              "two processes are " + rankText(hello.rank) + " of one id"};
    if (std::memcmp(other->uuid, hello.uuid, sizeof(hello.uuid)) == 0)
      return {ncclInvalidUsage, rankText(other->rank) + " and " +
                                    rankText(hello.rank) +
                                    " use the same device"};
    if (other->version != hello.version)
      return {ncclInvalidUsage, rankText(other->rank) + " and " +
                                    rankText(hello.rank) +
                                    " have unequal versions of NCCL"};
  }
  return {};
}

/// Takes the hellos that have come; the connection of a rank gets its place.
static Failure takeHellos(Meeting &meeting, int asker) {
  for (std::unique_ptr<Connection> &connection : meeting.unknown) {
    if (!connection || !connection->has(Frame::Hello))
      continue;
    const auto hello = connection->takeAs<Hello>(Frame::Hello);
    if (Failure failure = checkHello(meeting, hello, asker))
      return failure;
    const auto rank = static_cast<size_t>(hello.rank);
    meeting.hellos[rank] = hello;
    meeting.connections[rank] = std::move(connection);
    --meeting.numLeft;
  }
  return {};
}

static void answerAll(Meeting &meeting, const std::string &payload) {
  for (Connection *connection : meeting.all)
    connection->post(Frame::Answer, payload.data(), payload.size());
}

static std::string failedAnswer(const Failure &failure) {
  Answer answer;
  answer.result = failure.result;
  failure.text.copy(answer.text, sizeof(answer.text) - 1);
  return bytesOfValue(answer);
}

static std::string goodAnswer(const Meeting &meeting) {
  Answer answer;
  answer.channels = meeting.hellos[0]->channels;
  for (const std::optional<Hello> &hello : meeting.hellos)
    answer.channels = std::min(answer.channels, hello->channels);
  std::string payload = bytesOfValue(answer);
  for (const std::optional<Hello> &hello : meeting.hellos)
    payload.append(hello->address, sizeof(hello->address));
  return payload;
}

static Failure flush(const std::vector<Connection *> &all, const Stops &stops) {
  auto isFlushed = [&] {
    return std::all_of(all.begin(), all.end(), [](Connection *connection) {
      return connection->isFlushed() || connection->isEnded();
    });
  };
  return waitFor(all, stops, isFlushed, [](size_t) { return "a rank"; });
}

static void setMesh(Communicator &communicator,
                    std::vector<std::unique_ptr<Connection>> connections) {
  std::lock_guard<std::mutex> lock(communicator.meshMutex);
  communicator.mesh =
      std::make_unique<Mesh>(communicator.rank, std::move(connections));
}

static Failure meetAsRoot(Communicator &communicator, Listener &listener,
                          const Hello &own) {
  Meeting meeting(static_cast<size_t>(communicator.size));
  meeting.hellos[0] = own;
  Failure refused;
  auto step = [&] {
    meeting.accept(listener);
    refused = takeHellos(meeting, 0);
    return refused || meeting.numLeft == 0;
  };
  Failure failure = waitFor(
      meeting.all, {communicator.stop}, step,
      [](size_t) { return "a rank that has joined"; }, listener.descriptor());
  if (!failure)
    failure = refused;
  const std::string answer =
      failure ? failedAnswer(failure) : goodAnswer(meeting);
  answerAll(meeting, answer);
  if (Failure late = flush(meeting.all, {communicator.stop}))
    return failure ? failure : late;
  if (failure)
    return failure;
  communicator.settled.channels = valueOfBytes<Answer>(answer).channels;
  setMesh(communicator, std::move(meeting.connections));
  return {};
}

//===----------------------------------------------------------------------===//
// The other ranks
//===----------------------------------------------------------------------===//

Failure connectRanks(Communicator &communicator, Listener &listener,
                     const std::vector<std::string> &addresses,
                     const Stops &stops,
                     std::vector<std::unique_ptr<Connection>> known) {
  const int rank = communicator.rank;
  Meeting meeting(addresses.size());
  meeting.connections = std::move(known);
  meeting.numLeft = addresses.size() - static_cast<size_t>(rank) - 1;
  Hello own;
  own.rank = rank;
  own.size = communicator.size;
  for (int other = 0; other < rank; ++other) {
    std::unique_ptr<Connection> &to =
        meeting.connections[static_cast<size_t>(other)];
    if (to)
      continue;
    to = connectTo(addresses[static_cast<size_t>(other)]);
    if (!to)
      return {ncclRemoteError, rankText(other) + " accepts no connection"};
    to->post(Frame::Hello, own);
    meeting.all.push_back(to.get());
  }
  auto step = [&] {
    meeting.accept(listener);
    for (std::unique_ptr<Connection> &connection : meeting.unknown)
      if (connection && connection->has(Frame::Hello)) {
        auto hello = connection->takeAs<Hello>(Frame::Hello);
        meeting.connections[static_cast<size_t>(hello.rank)] =
            std::move(connection);
        --meeting.numLeft;
      }
    return meeting.numLeft == 0;
  };
  if (Failure failure = waitFor(
          meeting.all, stops, step, [](size_t) { return "a rank"; },
          listener.descriptor()))
    return failure;
  if (Failure failure = flush(meeting.all, stops))
    return failure;
  setMesh(communicator, std::move(meeting.connections));
  return {};
}

static Failure meetRoot(Communicator &communicator, const ncclUniqueId &id,
                        Hello own) {
  Listener listener;
  listener.address().copy(own.address, sizeof(own.address) - 1);
  std::vector<std::unique_ptr<Connection>> known(
      static_cast<size_t>(communicator.size));
  known[0] = connectTo(textOf(id).address);
  if (!known[0])
    return {ncclSystemError, "nobody listens at the address of the id"};
  Connection &root = *known[0];
  root.post(Frame::Hello, own);
  if (Failure failure = waitFor(
          {&root}, {communicator.stop}, [&] { return root.has(Frame::Answer); },
          [](size_t) { return "rank 0"; }))
    return failure;
  const std::string payload = root.take(Frame::Answer);
  const auto answer = valueOfBytes<Answer>(payload);
  if (answer.result != ncclSuccess)
    return {static_cast<ncclResult_t>(answer.result), answer.text};
  communicator.settled.channels = answer.channels;
  std::vector<std::string> addresses;
  for (size_t i = 0; i < known.size(); ++i)
    addresses.emplace_back(payload.data() + sizeof(Answer) +
                           i * sizeof(own.address));
  return connectRanks(communicator, listener, addresses, {communicator.stop},
                      std::move(known));
}

Failure meet(Communicator &communicator, const ncclUniqueId &id,
             Listener *listener, const Hello &own) {
  return communicator.rank == 0 ? meetAsRoot(communicator, *listener, own)
                                : meetRoot(communicator, id, own);
}

} // namespace weft::emulation
