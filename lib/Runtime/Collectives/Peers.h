//===- Peers.h - Connections between the ranks of a run ---------*- C++ -*-===//
//
// Rank 0 listens at the place of the rendezvous until all ranks have joined it,
// and tells each where the others listen. From then on any two ranks connect as
// often as they want: of a pair the higher one calls.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_PEERS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_PEERS_H

#include "Sockets.h"

#include "weft/Runtime/Collectives/Rendezvous.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <bitset>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

namespace weft {

/// The first bytes on a connection. Ranks have processors of one kind: numbers
/// are sent as they lie in memory.
struct Hello {
  static constexpr char kMagic[8] = {'w', 'e', 'f', 't', '-', 't', 'c', 'p'};
  static constexpr int32_t kVersion = 1;
  /// Join: to rank 0, which answers with an Acknowledgement. Link: to the lower
  /// of two ranks, a connection with a number.
  enum Kind : int32_t { Join = 1, Link = 2 };

  char magic[8] = {};
  int32_t version = kVersion, kind = Join;
  int32_t rank = 0, ranks = 0;
  int64_t number = 0; // of a Link
  int32_t port = 0;   // of a Join: where the rank listens
  char key[36] = {};  // 32 digits
  char host[64] = {}; // of a Join: "" is where the connection comes from
};

Hello makeHello(Hello::Kind kind, int rank, int ranks, const std::string &key);

struct Acknowledgement {
  enum Answer : int32_t { Joined = 1, OtherRun = 2, OtherVersion = 3 };
  char magic[8] = {};
  int32_t version = Hello::kVersion, answer = Joined;
};

/// Takes the connections of one run at a socket. A process that connects says
/// who it is in its first bytes. Those that say something else, or do not know
/// the key of the run, are closed: a port is open to strangers.
class Callers {
public:
  struct Caller {
    Descriptor socket;
    Hello hello;
  };

  Callers() = default;
  Callers(Descriptor listener, std::string key)
      : listener(std::move(listener)), key(std::move(key)) {}

  int port() const { return localAddress(listener.get()).port(); }
  /// The next one that has said who it is; none if the time is over.
  std::optional<Caller> next(SocketClock::time_point end);

private:
  struct Pending {
    Caller caller;
    size_t bytes = 0; // of the hello that have come
    SocketClock::time_point end;
  };

  void acceptAll();
  std::optional<Caller> findReady();
  bool isOfRun(const Caller &caller) const;
  void wait(SocketClock::time_point end) const;

  Descriptor listener;
  std::string key;
  std::vector<Pending> pending;
};

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

/// The result of joining, on one rank.
struct JoinedRun {
  Callers callers;                   // connections to this rank
  std::vector<SocketAddress> places; // where the ranks before it listen
};

Expected<JoinedRun> joinRun(const Rendezvous &rendezvous, double timeout);

//===- Heartbeats over TCP ------------------------------------------------===//

// Each two processes of a run have one connection that lives as long as they
// do. It carries heartbeats and failure notices. A process that ends by itself
// sends FailureNotice::Ended: one whose connection ends without it was ended.

/// Any thread may call it.
class TcpHeartbeats final : public Heartbeats {
public:
  /// Connections by rank; none to this one.
  explicit TcpHeartbeats(std::vector<Descriptor> sockets);

  void send(int rank) override;
  int64_t count(int rank) override;

  /// A process has one set of notices, whichever transport sends them.
  void notify(FailureNotice notice);
  bool hasNotified(int rank, FailureNotice notice);
  bool hasEnded(int rank) override;
  bool hasLeft(int rank) override;
  /// The same of one that has closed another connection: its notice may still
  /// be on its way.
  bool hasDied(int rank);

  /// Waits until all others have ended: the ranks that have not after so many
  /// seconds.
  std::vector<int> awaitEnds(double seconds);

private:
  struct Peer {
    Descriptor socket;
    int64_t heartbeats = 0;
    std::bitset<kFailureNotices> notices;
    bool isClosed = false;

    bool saysEnd() const { return notices.test(size_t(FailureNotice::Ended)); }
  };

  void sendWord(char word);
  void read(Peer &peer);
  std::vector<int> findWorking();

  std::mutex mutex;
  std::vector<Peer> peers;
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_PEERS_H
