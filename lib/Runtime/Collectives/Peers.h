//===- Peers.h - Connections between the ranks of a run ---------*- C++ -*-===//
//
// Rank 0 listens at the place of the rendezvous until all ranks have joined it,
// and tells each where the others listen. From then on any two ranks connect as
// often as they want: of a pair the higher one calls.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_PEERS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_PEERS_H

#include "Callers.h"
#include "weft/Runtime/Collectives/Rendezvous.h"

#include <functional>
#include <map>

namespace weft {

/// Where a rank listens.
struct Endpoint {
  char host[64] = {}; // "": where rank 0 does
  int32_t port = 0;
};

/// One thread at a time uses it.
class Peers {
public:
  /// Waits until all ranks have joined, for `timeout` seconds. An error names
  /// the absent ranks (exit 7) or the settings that differ (exit 2); one
  /// rank says it.
  static Expected<Peers> join(const Rendezvous &rendezvous, double timeout);

  int rank() const { return number; }
  int ranks() const { return count; }

  /// Whether the process of a rank has ended, for connections that wait for it.
  using IsDead = std::function<bool(int rank)>;
  struct Links {
    std::vector<Descriptor> sockets; // by place in `members`; none to itself
    std::vector<int> missing;        // ranks that have not connected
  };
  /// Connects `members`, ranks of the run in order, which all call with one
  /// number that no other call of two of them has.
  Links connect(int64_t link, const std::vector<int> &members, double timeout,
                const IsDead &isDead);

private:
  Peers(int rank, int ranks, std::string key)
      : number(rank), count(ranks), key(std::move(key)) {}

  Descriptor call(int peer, int64_t link, SocketClock::time_point end) const;
  Descriptor await(int peer, int64_t link, SocketClock::time_point end,
                   const IsDead &isDead);

  int number, count;
  std::string key;
  Callers callers;
  std::vector<SocketAddress> places; // where lower ranks listen
  std::map<std::pair<int64_t, int>, Descriptor> early; // by number and rank
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_PEERS_H
