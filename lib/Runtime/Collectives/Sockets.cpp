//===- Sockets.cpp - TCP sockets ------------------------------------------===//

#include "Sockets.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

using namespace weft;

/// Connections that may wait to be accepted; the system may lower it.
static constexpr int kBacklog = 4096;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

std::string SocketAddress::host() const {
  char text[NI_MAXHOST] = "";
  if (size == 0 || ::getnameinfo(get(), size, text, sizeof text, nullptr, 0,
                                 NI_NUMERICHOST) != 0)
    return "";
  return text;
}

int SocketAddress::port() const {
  const bool isSix = storage.ss_family == AF_INET6;
  return ntohs(isSix ? reinterpret_cast<const sockaddr_in6 *>(get())->sin6_port
                     : reinterpret_cast<const sockaddr_in *>(get())->sin_port);
}

bool SocketAddress::isLoopback() const {
  if (storage.ss_family != AF_INET6) {
    const auto *four = reinterpret_cast<const sockaddr_in *>(get());
    return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  const in6_addr &six =
      reinterpret_cast<const sockaddr_in6 *>(get())->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six) ||
         (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == IN_LOOPBACKNET);
}

static SocketAddress addressFrom(const sockaddr *from, socklen_t size) {
  SocketAddress address;
  std::memcpy(&address.storage, from, size);
  address.size = size;
  return address;
}

Expected<std::vector<SocketAddress>> weft::resolve(const std::string &host,
                                                   int port) {
  addrinfo wanted = {};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | (host.empty() ? AI_PASSIVE : 0);
  addrinfo *list = nullptr;
  const int code = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                 std::to_string(port).c_str(), &wanted, &list);
  if (code != 0)
    return communicationError(
        "cannot find the address of " + inQuotes(host) + ": " +
        (code == EAI_SYSTEM ? errnoText(errno) : ::gai_strerror(code)));
  std::unique_ptr<addrinfo, void (*)(addrinfo *)> owned(list, ::freeaddrinfo);
  std::vector<SocketAddress> found;
  for (const addrinfo *each = list; each; each = each->ai_next)
    found.push_back(addressFrom(each->ai_addr, each->ai_addrlen));
  // One that takes IPv4 as well.
  if (host.empty())
    std::partition(found.begin(), found.end(), [](const SocketAddress &each) {
      return each.storage.ss_family == AF_INET6;
    });
  return found;
}

static socklen_t sizeOf(const sockaddr *address) {
  return address->sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                        : sizeof(sockaddr_in);
}

Expected<SocketAddress> weft::addressOf(const std::string &interface) {
  ifaddrs *list = nullptr;
  if (::getifaddrs(&list) != 0)
    return systemError(ExitCode::Communication,
                       "cannot list the network interfaces", errno);
  std::unique_ptr<ifaddrs, void (*)(ifaddrs *)> owned(list, ::freeifaddrs);
  std::vector<std::string> names;
  SocketAddress found;
  for (const ifaddrs *each = list; each; each = each->ifa_next) {
    const int family = each->ifa_addr ? each->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6)
      continue;
    if (std::find(names.begin(), names.end(), each->ifa_name) == names.end())
      names.push_back(each->ifa_name);
    // IPv4 if it has both.
    if (each->ifa_name == interface && (found.size == 0 || family == AF_INET))
      found = addressFrom(each->ifa_addr, sizeOf(each->ifa_addr));
  }
  if (found.size != 0)
    return found;
  return usageError(
      "WEFT_INTERFACE expects a network interface with an address (",
      joined(names), "), but got ", inQuotes(interface));
}

std::string weft::placeText(const std::string &host, int port) {
  const bool isSix = host.find(':') != std::string::npos;
  return (isSix ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

SocketAddress weft::localAddress(int socket) {
  SocketAddress address;
  address.size = sizeof address.storage;
  if (::getsockname(socket, address.get(), &address.size) != 0)
    address.size = 0;
  return address;
}

SocketAddress weft::peerAddress(int socket) {
  SocketAddress address;
  address.size = sizeof address.storage;
  if (::getpeername(socket, address.get(), &address.size) != 0)
    address.size = 0;
  return address;
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

static void setOption(int socket, int level, int name, int value) {
  (void)::setsockopt(socket, level, name, &value, sizeof value);
}

static Descriptor makeSocket(int family) {
  return Descriptor(
      ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Expected<Descriptor> weft::listenAt(const SocketAddress &address) {
  Descriptor socket = makeSocket(address.storage.ss_family);
  if (socket) {
    setOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (address.storage.ss_family == AF_INET6)
      setOption(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  if (!socket || ::bind(socket.get(), address.get(), address.size) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    return systemError(
        ExitCode::Communication,
        "cannot listen at " + placeText(address.host(), address.port()), errno);
  return socket;
}

Expected<Descriptor> weft::connectTo(const SocketAddress &address,
                                     SocketClock::time_point end) {
  Descriptor socket = makeSocket(address.storage.ss_family);
  int number = 0;
  if (!socket)
    number = errno;
  else if (::connect(socket.get(), address.get(), address.size) != 0)
    number = errno;
  if (number == EINPROGRESS) {
    socklen_t size = sizeof number;
    number = ETIMEDOUT;
    if (awaitSocket(socket.get(), POLLOUT, end))
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &number, &size);
  }
  if (number != 0)
    return systemError(
        ExitCode::Communication,
        "cannot reach " + placeText(address.host(), address.port()), number);
  setOption(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return socket;
}

Descriptor weft::acceptOne(int listener) {
  Descriptor socket(
      ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket)
    setOption(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return socket;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

SocketClock::time_point weft::after(double seconds) {
  return SocketClock::now() + std::chrono::duration_cast<SocketClock::duration>(
                                  std::chrono::duration<double>(seconds));
}

int weft::millisecondsTo(SocketClock::time_point end) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(end - SocketClock::now());
  return int(std::clamp<int64_t>(left.count(), 0, 1000000));
}

bool weft::awaitSocket(int socket, short events, SocketClock::time_point end) {
  pollfd file = {socket, events, 0};
  for (;;) {
    const int left = millisecondsTo(end);
    const int count = ::poll(&file, 1, left);
    if (count > 0)
      return true;
    if ((count < 0 && errno != EINTR) || left == 0)
      return false;
  }
}

static bool wouldBlock(int number) {
  return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

Moved weft::sendSome(int socket, const void *data, size_t bytes) {
  const ssize_t count =
      ::send(socket, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count >= 0)
    return {size_t(count), false};
  return {0, !wouldBlock(errno)};
}

Moved weft::receiveSome(int socket, void *data, size_t bytes) {
  if (bytes == 0)
    return {};
  const ssize_t count = ::recv(socket, data, bytes, MSG_DONTWAIT);
  if (count > 0)
    return {size_t(count), false};
  return {0, count == 0 || !wouldBlock(errno)};
}

/// Moves all bytes by calls of `some`, which waits for `event`.
template <typename Byte, typename Some>
static bool moveBy(int socket, Byte *at, size_t bytes, Some some, short event,
                   SocketClock::time_point end) {
  while (bytes > 0) {
    const Moved moved = some(socket, at, bytes);
    at += moved.bytes;
    bytes -= moved.bytes;
    if (moved.isClosed ||
        (moved.bytes == 0 && !awaitSocket(socket, event, end)))
      return false;
  }
  return true;
}

bool weft::sendBy(int socket, const void *data, size_t bytes,
                  SocketClock::time_point end) {
  return moveBy(socket, static_cast<const char *>(data), bytes, sendSome,
                POLLOUT, end);
}

bool weft::receiveBy(int socket, void *data, size_t bytes,
                     SocketClock::time_point end) {
  return moveBy(socket, static_cast<char *>(data), bytes, receiveSome, POLLIN,
                end);
}
