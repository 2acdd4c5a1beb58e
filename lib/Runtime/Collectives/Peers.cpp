//===- Peers.cpp - Connections between the ranks of a run -----------------===//

#include "Peers.h"

#include "JoinRun.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>

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
