//===- Tcp.cpp - Ranks that are processes and talk over TCP ---------------===//
//
// Each two ranks of a transport have a connection. A piece follows a header
// that says what its sender is about, and is read straight to its place once
// the header is as it has to be. What a rank sends earlier than others expect
// waits in the system. A transport that is destroyed closes its connections,
// and so does the system for a process that has ended: the heartbeats of the
// run tell the two apart.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Collectives/Rendezvous.h"

#include "Peers.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <poll.h>

using namespace weft;

namespace {

/// State that the transports of a process share.
struct TcpRun {
  Peers peers;
  std::shared_ptr<TcpHeartbeats> heartbeats;
  int64_t nextLink = 0; // number of a connection that this process has not used

  explicit TcpRun(Peers peers) : peers(std::move(peers)) {}
};

class TcpTransport final : public Transport {
public:
  /// `members` are ranks of the run, by rank of this transport, and `sockets`
  /// lead to them.
  TcpTransport(std::vector<int> members, int rank,
               std::vector<Descriptor> sockets, std::shared_ptr<TcpRun> run);
  void notify(FailureNotice notice) override;
  bool hasNotified(int rank, FailureNotice notice) override;

private:
  /// The first bytes of a piece.
  struct Header {
    int64_t bytes = 0; // of a piece
    char title[kTitleBytes] = {};
  };
  /// How much of header and piece has gone to a rank, and has come from it.
  struct Peer {
    Descriptor socket;
    Header header; // that has come
    size_t sent = 0, received = 0;
    bool isClosed = false;
  };

  Status exchangeAll(const char *const *send, char *const *receive,
                     int64_t bytes, std::string_view title) override;
  Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &colors) override;

  size_t whole() const { return sizeof(Header) + size_t(own.bytes); }
  bool isDone(const Peer &peer) const;
  bool sendTo(Peer &peer, const char *piece);
  Expected<bool> receiveFrom(int rank, char *piece);
  Status checkHeader(int rank) const;
  Expected<bool> moveAll(const char *const *send, char *const *receive);
  void wait(double seconds) const;
  Status checkPresent();

  Header own;
  std::vector<Peer> peers;
  const std::shared_ptr<TcpRun> run;
};

} // namespace

/// Bytes that go to a rank, or come from it, before others have their turn.
static constexpr size_t kTurnBytes = size_t(1) << 20;

TcpTransport::TcpTransport(std::vector<int> members, int rank,
                           std::vector<Descriptor> sockets,
                           std::shared_ptr<TcpRun> run)
    : Transport(rank, std::move(members)), run(std::move(run)) {
  for (Descriptor &each : sockets) {
    peers.emplace_back();
    peers.back().socket = std::move(each);
  }
}

//===----------------------------------------------------------------------===//
// Leaving
//===----------------------------------------------------------------------===//

void TcpTransport::notify(FailureNotice notice) {
  run->heartbeats->notify(notice);
  for (const Peer &peer : peers)
    if (peer.socket)
      ::shutdown(peer.socket.get(), SHUT_WR);
}

bool TcpTransport::hasNotified(int rank, FailureNotice notice) {
  return run->heartbeats->hasNotified(nameOf(rank), notice);
}

//===----------------------------------------------------------------------===//
// Moving bytes
//===----------------------------------------------------------------------===//

bool TcpTransport::isDone(const Peer &peer) const {
  return !peer.socket || (peer.sent == whole() && peer.received == whole());
}

/// The part of `size` bytes that is due at `at` of a header and a piece.
static size_t partOf(size_t at, size_t headerBytes, size_t whole) {
  return at < headerBytes ? headerBytes - at : std::min(whole - at, kTurnBytes);
}

/// Whether something has gone.
bool TcpTransport::sendTo(Peer &peer, const char *piece) {
  const size_t head = sizeof(Header), at = peer.sent;
  if (at == whole() || peer.isClosed)
    return false;
  const char *from = at < head ? reinterpret_cast<const char *>(&own) + at
                               : piece + (at - head);
  const Moved moved =
      sendSome(peer.socket.get(), from, partOf(at, head, whole()));
  peer.sent += moved.bytes;
  peer.isClosed |= moved.isClosed;
  return moved.bytes > 0;
}

Status TcpTransport::checkHeader(int rank) const {
  const Header &other = peers[size_t(rank)].header;
  if (other.bytes == own.bytes &&
      std::strncmp(other.title, own.title, kTitleBytes) == 0)
    return Status::success();
  return collectiveMismatchError(
      nameOf(this->rank()), own.title, own.bytes, nameOf(rank),
      std::string(other.title, strnlen(other.title, kTitleBytes)), other.bytes);
}

/// Whether something has come.
Expected<bool> TcpTransport::receiveFrom(int rank, char *piece) {
  Peer &peer = peers[size_t(rank)];
  const size_t head = sizeof(Header), at = peer.received;
  if (at == whole())
    return false;
  char *to = at < head ? reinterpret_cast<char *>(&peer.header) + at
                       : piece + (at - head);
  const Moved moved =
      receiveSome(peer.socket.get(), to, partOf(at, head, whole()));
  peer.received += moved.bytes;
  peer.isClosed |= moved.isClosed;
  if (moved.bytes > 0 && peer.received == head)
    if (Status s = checkHeader(rank); !s)
      return s.takeError();
  return moved.bytes > 0;
}

/// Whether anything has moved. Headers go out first, so that a rank that finds
/// a mismatch has sent its own header to all.
Expected<bool> TcpTransport::moveAll(const char *const *send,
                                     char *const *receive) {
  bool isProgress = false;
  for (int i = 1; i < ranks(); ++i) {
    const int peer = (rank() + i) % ranks();
    isProgress |= sendTo(peers[size_t(peer)], send[peer]);
  }
  for (int i = 1; i < ranks(); ++i) {
    const int peer = (rank() + i) % ranks();
    auto came = receiveFrom(peer, receive[peer]);
    if (!came)
      return came;
    isProgress |= *came;
  }
  return isProgress;
}

void TcpTransport::wait(double seconds) const {
  std::vector<pollfd> files;
  for (const Peer &peer : peers) {
    if (isDone(peer) || peer.isClosed)
      continue;
    const int events = (peer.received < whole() ? POLLIN : 0) |
                       (peer.sent < whole() ? POLLOUT : 0);
    files.push_back({peer.socket.get(), short(events), 0});
  }
  ::poll(files.data(), files.size(), millisecondsTo(after(seconds)));
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

/// Fails if a rank that this exchange waits for has closed its connection. If a
/// process has died, ranks that left because of it are not named.
Status TcpTransport::checkPresent() {
  std::vector<int> left, dead;
  for (int peer = 0; peer < ranks(); ++peer)
    if (!isDone(peers[size_t(peer)]) && peers[size_t(peer)].isClosed)
      (run->heartbeats->hasDied(nameOf(peer)) ? dead : left).push_back(peer);
  if (left.empty() && dead.empty())
    return Status::success();
  setAbsent(dead.empty() ? left : dead, /*haveLeft=*/dead.empty());
  return dead.empty() ? leftError(missing().front(), own.title)
                      : endedError(nameOf(rank()), missing(), own.title);
}

Status TcpTransport::exchangeAll(const char *const *send, char *const *receive,
                                 int64_t bytes, std::string_view title) {
  own = Header();
  own.bytes = bytes;
  std::memcpy(own.title, title.data(), title.size());
  for (Peer &peer : peers)
    peer.sent = peer.received = 0;
  ExchangeTimer timer(timeout(), ranks());
  while (!std::all_of(peers.begin(), peers.end(),
                      [&](const Peer &peer) { return isDone(peer); })) {
    auto isProgress = moveAll(send, receive);
    if (!isProgress)
      return isProgress.takeError();
    if (*isProgress) {
      timer.restart();
      continue;
    }
    // Only after all data of a rank that has left was received.
    if (Status s = checkPresent(); !s)
      return s;
    if (Status s = checkTimeouts(
            timer, own.title,
            [&](int peer) { return !isDone(peers[size_t(peer)]); });
        !s)
      return s;
    wait(timer.longestWait().count());
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The connections of a group take the first number that none of its ranks has
/// used: no two of the same two ranks have one number.
Expected<std::unique_ptr<Transport>>
TcpTransport::splitBy(const std::vector<int> &colors) {
  auto unused = gather(run->nextLink, "the numbers of a split");
  if (!unused)
    return unused.takeError();
  const int64_t link = *std::max_element(unused->begin(), unused->end());
  run->nextLink = link + 1;
  auto [members, place] = membersOf(colors);
  Peers::Links links =
      run->peers.connect(link, members, timeout(), [this](int peer) {
        return run->heartbeats->hasEnded(peer);
      });
  if (!links.missing.empty()) {
    std::vector<int> absent;
    for (int other = 0; other < ranks(); ++other)
      for (int each : links.missing)
        if (nameOf(other) == members[size_t(each)])
          absent.push_back(other);
    setAbsent(absent, /*haveLeft=*/false);
    return missingError(nameOf(rank()), missing(), "a connection", timeout());
  }
  return std::unique_ptr<Transport>(std::make_unique<TcpTransport>(
      std::move(members), place, std::move(links.sockets), run));
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

namespace {

class TcpProcess final : public RankProcess {
public:
  TcpProcess(std::shared_ptr<TcpRun> run, double timeout)
      : run(std::move(run)), timeout(timeout) {}
  /// Those that wait for this rank know that it has not been ended.
  ~TcpProcess() override {
    if (run->heartbeats)
      run->heartbeats->notify(FailureNotice::Ended);
  }

  /// Connects all ranks. An error names the absent ones.
  Status start();

  int rank() const override { return run->peers.rank(); }
  int ranks() const override { return run->peers.ranks(); }
  std::unique_ptr<Transport> connect() override { return std::move(world); }
  Status finish() override;

private:
  const std::shared_ptr<TcpRun> run;
  const double timeout;
  std::unique_ptr<Transport> world;
};

} // namespace

Status TcpProcess::start() {
  std::vector<int> all(size_t(run->peers.ranks()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<Descriptor> sockets[2];
  for (std::vector<Descriptor> &each : sockets) {
    auto links = run->peers.connect(run->nextLink++, all, timeout,
                                    [](int) { return false; });
    if (!links.missing.empty())
      return missingError(rank(), links.missing, "a connection", timeout);
    each = std::move(links.sockets);
  }
  run->heartbeats = std::make_shared<TcpHeartbeats>(std::move(sockets[0]));
  world =
      std::make_unique<TcpTransport>(all, rank(), std::move(sockets[1]), run);
  world->setHeartbeats(run->heartbeats);
  return Status::success();
}

/// A launcher ends all processes when one has ended with an error, though
/// others still write what all have agreed on.
Status TcpProcess::finish() {
  run->heartbeats->notify(FailureNotice::Ended);
  const double most = longestCall(timeout);
  const std::vector<int> missing = run->heartbeats->awaitEnds(most);
  if (missing.empty())
    return Status::success();
  return missingError(rank(), missing, "the end of the run", most);
}

Expected<std::unique_ptr<RankProcess>>
weft::joinTcp(const Rendezvous &rendezvous, double timeout) {
  auto peers = Peers::join(rendezvous, timeout);
  if (!peers)
    return peers.takeError();
  auto process = std::make_unique<TcpProcess>(
      std::make_shared<TcpRun>(std::move(*peers)), timeout);
  if (Status s = process->start(); !s)
    return s.takeError();
  return std::unique_ptr<RankProcess>(std::move(process));
}

Expected<LocalRendezvous> weft::listenLocally() {
  std::unique_ptr<Error> first;
  for (const char *host : {"127.0.0.1", "::1"}) {
    auto addresses = resolve(host, 0);
    auto listener = addresses ? listenAt(addresses->front())
                              : Expected<Descriptor>(addresses.takeError());
    if (listener) {
      const int port = localAddress(listener->get()).port();
      return LocalRendezvous{std::move(*listener), host, port};
    }
    if (!first)
      first = std::make_unique<Error>(listener.takeError());
  }
  return *first;
}
