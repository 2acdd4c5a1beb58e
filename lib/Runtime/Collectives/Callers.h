//===- Callers.h - Who connects to a rank -----------------------*- C++ -*-===//
//
// A process that connects says who it is in its first bytes. Those that say
// something else, or do not know the key of the run, are closed: a port is open
// to strangers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_CALLERS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_CALLERS_H

#include "Sockets.h"

#include <cstdint>
#include <cstring>
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

/// Takes the connections of one run at a socket.
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

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_CALLERS_H
