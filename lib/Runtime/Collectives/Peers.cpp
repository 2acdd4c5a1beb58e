//===- Peers.cpp - Connections between the ranks of a run -----------------===//

#include "Peers.h"

#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <poll.h>

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
