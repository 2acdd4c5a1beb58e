//===- Sockets.h - TCP sockets --------------------------------*- C++ -*-===//
//
// No call here blocks for longer than it is told to, and no write raises
// SIGPIPE. Sockets are closed when the process starts another program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_SOCKETS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_SOCKETS_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Results.h"

#include <chrono>
#include <string>
#include <vector>

#include <sys/socket.h>

namespace weft {

using SocketClock = std::chrono::steady_clock;

/// An IPv4 or IPv6 address with a port.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  const sockaddr *get() const {
    return reinterpret_cast<const sockaddr *>(&storage);
  }
  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
  /// "10.0.0.7", "fe80::1%eth0".
  std::string host() const;
  int port() const;
  bool isLoopback() const;
};

/// The addresses of a host, which may be a name; exit 7 if there are none.
/// With an empty host: all addresses of this machine, IPv6 first.
Expected<std::vector<SocketAddress>> resolve(const std::string &host, int port);
/// An address of a network interface; exit 2, with the names that there are, if
/// it has none.
Expected<SocketAddress> addressOf(const std::string &interface);

/// "node07:29500", "[fe80::1]:29500".
std::string placeText(const std::string &host, int port);

SocketAddress localAddress(int socket);
SocketAddress peerAddress(int socket);

/// A socket that listens at the address, where a port of 0 takes a free one.
/// The number of the system's error if that fails.
Expected<Descriptor> listenAt(const SocketAddress &address);
/// A connection to the address; it is not open before the time is over.
Expected<Descriptor> connectTo(const SocketAddress &address,
                               SocketClock::time_point end);
/// The next connection that waits; an invalid one if none does.
Descriptor acceptOne(int listener);

/// Sends or receives `bytes` bytes; false if the peer has closed, the time is
/// over or the system fails (errno).
bool sendBy(int socket, const void *data, size_t bytes,
            SocketClock::time_point end);
bool receiveBy(int socket, void *data, size_t bytes,
               SocketClock::time_point end);

/// The result of a call that does not block.
struct Moved {
  size_t bytes = 0;
  bool isClosed = false; // by the peer, or broken
};
Moved sendSome(int socket, const void *data, size_t bytes);
Moved receiveSome(int socket, void *data, size_t bytes);

/// So many seconds from now.
SocketClock::time_point after(double seconds);
/// Waits for events of poll(), until `end` at most; whether one has come.
bool awaitSocket(int socket, short events, SocketClock::time_point end);
/// Milliseconds for poll(), rounded up; 0 if the time is over.
int millisecondsTo(SocketClock::time_point end);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_SOCKETS_H
