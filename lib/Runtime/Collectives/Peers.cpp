//===- Peers.cpp - Connections between the ranks of a run -----------------===//

#include "Peers.h"

#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <poll.h>
#include <thread>

using namespace weft;

/// After which a rank looks whether the one that it waits for has ended.
static constexpr std::chrono::milliseconds kLook(200);

Expected<Peers> Peers::join(const Rendezvous &rendezvous, double timeout) {
  auto joined = joinRun(rendezvous, timeout);
  if (!joined)
    return joined.takeError();
  Peers peers(rendezvous.rank, rendezvous.ranks, rendezvous.key);
  peers.callers = std::move(joined->callers);
  peers.places = std::move(joined->places);
  return peers;
}

Descriptor Peers::call(int peer, int64_t link,
                       SocketClock::time_point end) const {
  auto socket = connectTo(places[size_t(peer)], end);
  if (!socket)
    return Descriptor();
  Hello hello = makeHello(Hello::Link, number, count, key);
  hello.number = link;
  if (!sendBy(socket->get(), &hello, sizeof hello, end))
    return Descriptor();
  return std::move(*socket);
}

/// Those that come for another connection wait for their turn.
Descriptor Peers::await(int peer, int64_t link, SocketClock::time_point end,
                        const IsDead &isDead) {
  for (;;) {
    if (auto found = early.find({link, peer}); found != early.end()) {
      Descriptor socket = std::move(found->second);
      early.erase(found);
      return socket;
    }
    const auto now = SocketClock::now();
    if (now >= end || isDead(peer))
      return Descriptor();
    auto caller = callers.next(std::min(end, now + kLook));
    if (caller && caller->hello.kind == Hello::Link)
      early[{caller->hello.number, caller->hello.rank}] =
          std::move(caller->socket);
  }
}

Peers::Links Peers::connect(int64_t link, const std::vector<int> &members,
                            double timeout, const IsDead &isDead) {
  const auto end = after(timeout);
  Links links;
  links.sockets.resize(members.size());
  // Those that are called do not have to answer: no two ranks wait for each
  // other.
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i] < number)
      links.sockets[i] = call(members[i], link, end);
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i] > number)
      links.sockets[i] = await(members[i], link, end, isDead);
    if (members[i] != number && !links.sockets[i])
      links.missing.push_back(int(i));
  }
  return links;
}

//===- Callers ------------------------------------------------------------===//

/// That a connection has to say who it is.
static constexpr std::chrono::seconds kHelloTime(10);
/// Connections that have not said it yet, at most: strangers cannot take all
/// files of the process.
static constexpr size_t kMostPending = 256;

Hello weft::makeHello(Hello::Kind kind, int rank, int ranks,
                      const std::string &key) {
  Hello hello;
  std::memcpy(hello.magic, Hello::kMagic, sizeof hello.magic);
  hello.kind = kind;
  hello.rank = rank;
  hello.ranks = ranks;
  key.copy(hello.key, sizeof hello.key - 1);
  return hello;
}

void Callers::acceptAll() {
  while (pending.size() < kMostPending) {
    Descriptor socket = acceptOne(listener.get());
    if (!socket)
      return;
    pending.push_back(
        {{std::move(socket), {}}, 0, SocketClock::now() + kHelloTime});
  }
}

static void answer(int socket, Acknowledgement::Answer answer) {
  Acknowledgement text;
  std::memcpy(text.magic, Hello::kMagic, sizeof text.magic);
  text.answer = answer;
  (void)sendSome(socket, &text, sizeof text);
}

/// Whether a caller whose hello is complete is of this run. It gets to know the
/// answer if it wants to join one.
bool Callers::isOfRun(const Caller &caller) const {
  const Hello &hello = caller.hello;
  if (std::memcmp(hello.magic, Hello::kMagic, sizeof hello.magic) != 0)
    return false;
  const bool isVersion = hello.version == Hello::kVersion;
  const bool isKey =
      std::string(hello.key, sizeof hello.key - 1).c_str() == key;
  if (hello.kind == Hello::Join || !isVersion)
    answer(caller.socket.get(), !isVersion ? Acknowledgement::OtherVersion
                                : isKey    ? Acknowledgement::Joined
                                           : Acknowledgement::OtherRun);
  return isVersion && isKey;
}

std::optional<Callers::Caller> Callers::findReady() {
  for (size_t i = 0; i < pending.size();) {
    Pending &each = pending[i];
    char *hello = reinterpret_cast<char *>(&each.caller.hello);
    const Moved moved =
        receiveSome(each.caller.socket.get(), hello + each.bytes,
                    sizeof(Hello) - each.bytes);
    each.bytes += moved.bytes;
    const bool isComplete = each.bytes == sizeof(Hello);
    if (!isComplete && !moved.isClosed && SocketClock::now() < each.end) {
      ++i;
      continue;
    }
    Caller caller = std::move(each.caller);
    pending.erase(pending.begin() + long(i));
    if (isComplete && isOfRun(caller))
      return caller;
  }
  return std::nullopt;
}

void Callers::wait(SocketClock::time_point end) const {
  std::vector<pollfd> files;
  if (pending.size() < kMostPending)
    files.push_back({listener.get(), POLLIN, 0});
  for (const Pending &each : pending) {
    files.push_back({each.caller.socket.get(), POLLIN, 0});
    end = std::min(end, each.end);
  }
  ::poll(files.data(), files.size(), millisecondsTo(end));
}

std::optional<Callers::Caller> Callers::next(SocketClock::time_point end) {
  for (;;) {
    acceptAll();
    if (auto ready = findReady())
      return ready;
    if (SocketClock::now() >= end)
      return std::nullopt;
    wait(end);
  }
}

//===- Heartbeats over TCP ------------------------------------------------===//

/// A smaller byte is a FailureNotice.
static constexpr char kHeartbeat = 'b';
static_assert(kFailureNotices <= kHeartbeat);
/// In which the system closes all connections of a process that was ended.
static constexpr std::chrono::milliseconds kClosing(200), kPause(2);

TcpHeartbeats::TcpHeartbeats(std::vector<Descriptor> sockets) {
  for (Descriptor &each : sockets) {
    peers.emplace_back();
    peers.back().socket = std::move(each);
  }
}

/// A full connection holds enough heartbeats: it drops this one.
void TcpHeartbeats::sendWord(char word) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Peer &peer : peers)
    if (peer.socket)
      (void)sendSome(peer.socket.get(), &word, 1);
}

void TcpHeartbeats::send(int) { sendWord(kHeartbeat); }
void TcpHeartbeats::notify(FailureNotice notice) { sendWord(char(notice)); }

bool TcpHeartbeats::hasNotified(int rank, FailureNotice notice) {
  std::lock_guard<std::mutex> lock(mutex);
  Peer &peer = peers[size_t(rank)];
  read(peer);
  return peer.notices.test(size_t(notice));
}

void TcpHeartbeats::read(Peer &peer) {
  char words[256];
  while (peer.socket && !peer.isClosed) {
    const Moved moved = receiveSome(peer.socket.get(), words, sizeof words);
    for (size_t i = 0; i < moved.bytes; ++i) {
      peer.heartbeats += words[i] == kHeartbeat;
      if (words[i] >= 0 && words[i] < kFailureNotices)
        peer.notices.set(size_t(words[i]));
    }
    peer.isClosed = moved.isClosed;
    if (moved.bytes == 0)
      break;
  }
}

/// Those of all are read, so that no connection is full for long.
int64_t TcpHeartbeats::count(int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Peer &peer : peers)
    read(peer);
  return peers[size_t(rank)].heartbeats;
}

bool TcpHeartbeats::hasEnded(int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  Peer &peer = peers[size_t(rank)];
  read(peer);
  return peer.isClosed && !peer.saysEnd();
}

bool TcpHeartbeats::hasLeft(int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  Peer &peer = peers[size_t(rank)];
  read(peer);
  return peer.isClosed || peer.saysEnd();
}

bool TcpHeartbeats::hasDied(int rank) {
  for (const auto end = SocketClock::now() + kClosing;;) {
    if (hasEnded(rank))
      return true;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (peers[size_t(rank)].notices.any())
        return false;
    }
    if (SocketClock::now() >= end)
      return false;
    std::this_thread::sleep_for(kPause);
  }
}

std::vector<int> TcpHeartbeats::findWorking() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<int> working;
  for (size_t rank = 0; rank < peers.size(); ++rank) {
    read(peers[rank]);
    if (peers[rank].socket && !peers[rank].saysEnd() && !peers[rank].isClosed)
      working.push_back(int(rank));
  }
  return working;
}

std::vector<int> TcpHeartbeats::awaitEnds(double seconds) {
  for (const auto end = after(seconds);;) {
    std::vector<int> working = findWorking();
    if (working.empty() || SocketClock::now() >= end)
      return working;
    (void)awaitSocket(peers[size_t(working.front())].socket.get(), POLLIN, end);
  }
}
