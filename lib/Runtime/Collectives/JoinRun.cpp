//===- JoinRun.cpp - Connect the ranks through rank 0 ---------------------===//

#include "Peers.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <fcntl.h>
#include <netinet/in.h>
#include <thread>

using namespace weft;

namespace {
/// The last message of rank 0: an error, or Ok and an Endpoint for each rank.
struct Verdict {
  int32_t code = int32_t(ExitCode::Ok);
  char text[508] = {};
};
} // namespace

/// Seconds that rank 0 has to acknowledge a rank.
static constexpr double kAnswerSeconds = 5;
/// By which a verdict may come later than rank 0 waits.
static constexpr double kVerdictSeconds = 10;
static constexpr std::chrono::milliseconds kRetry(100);

template <size_t size>
static void copyText(char (&to)[size], const std::string &text) {
  to[text.copy(to, size - 1)] = 0;
}

static SocketAddress withPort(SocketAddress address, int port) {
  if (address.storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6 *>(address.get())->sin6_port =
        htons(uint16_t(port));
  else
    reinterpret_cast<sockaddr_in *>(address.get())->sin_port =
        htons(uint16_t(port));
  return address;
}

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

/// A socket of the launcher, which is rank 0's alone.
static Expected<Descriptor> takeListener(int number) {
  int listens = 0;
  socklen_t size = sizeof listens;
  if (::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
      !listens)
    return usageError(kListenerVariable,
                      " expects a socket that listens, but got ", number);
  Descriptor socket(number);
  ::fcntl(number, F_SETFL, O_NONBLOCK);
  ::fcntl(number, F_SETFD, FD_CLOEXEC);
  return socket;
}

/// Addresses at which this rank may listen: the interface that is
/// asked for, else `own` where all ranks run on this machine, else all.
static Expected<std::vector<SocketAddress>>
listeningAddresses(const Rendezvous &run,
                   const std::vector<SocketAddress> &own) {
  if (!run.interface.empty()) {
    auto address = addressOf(run.interface);
    if (!address)
      return address.takeError();
    return std::vector<SocketAddress>{*address};
  }
  if (run.isOneMachine)
    return own;
  return resolve("", 0);
}

/// At the first port that is free, of the first address that the system has.
static Expected<Descriptor>
listenAtFirst(const std::vector<SocketAddress> &addresses,
              const std::vector<int> &ports) {
  std::unique_ptr<Error> first;
  for (const SocketAddress &address : addresses)
    for (int port : ports) {
      auto socket = listenAt(withPort(address, port));
      if (socket)
        return socket;
      if (!first)
        first = std::make_unique<Error>(socket.takeError());
    }
  return *first;
}

static Expected<Descriptor> listenAsFirst(const Rendezvous &run) {
  if (run.listener >= 0)
    return takeListener(run.listener);
  auto own = resolve(run.host, run.ports.front());
  if (!own)
    return own.takeError();
  auto addresses = listeningAddresses(run, *own);
  if (!addresses)
    return addresses.takeError();
  auto socket = listenAtFirst(*addresses, run.ports);
  if (!socket)
    return socket.takeError().hint("MASTER_PORT names another port");
  return socket;
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

namespace {
/// The ranks that join rank 0.
class Guests {
public:
  Guests(const Rendezvous &run, Callers &callers)
      : run(run), callers(callers), sockets(size_t(run.ranks)),
        endpoints(size_t(run.ranks)) {}

  Status takeAll(double timeout);
  void tell(const Verdict &verdict);

private:
  Status check(const Hello &hello) const;
  Status take(Callers::Caller caller);
  Error absence(double timeout) const;

  const Rendezvous &run;
  Callers &callers;
  std::vector<Descriptor> sockets; // by rank
  Descriptor refused;
  std::vector<Endpoint> endpoints;
  int here = 1;
};
} // namespace

Status Guests::check(const Hello &hello) const {
  if (hello.ranks != run.ranks)
    return usageError(
        "expects ranks that know of one number of ranks, but got ", run.ranks,
        " in rank 0 and ", hello.ranks, " in rank ", hello.rank);
  if (hello.rank <= 0 || hello.rank >= run.ranks || sockets[size_t(hello.rank)])
    return usageError(
        "expects one process for each rank, but got two for rank ", hello.rank);
  return Status::success();
}

Status Guests::take(Callers::Caller caller) {
  const Hello &hello = caller.hello;
  if (Status s = check(hello); !s) {
    refused = std::move(caller.socket);
    return s;
  }
  Endpoint &endpoint = endpoints[size_t(hello.rank)];
  endpoint.port = hello.port;
  const SocketAddress from = peerAddress(caller.socket.get());
  const std::string named(hello.host, strnlen(hello.host, sizeof hello.host));
  if (!named.empty() || !from.isLoopback())
    copyText(endpoint.host, named.empty() ? from.host() : named);
  sockets[size_t(hello.rank)] = std::move(caller.socket);
  ++here;
  return Status::success();
}

Error Guests::absence(double timeout) const {
  std::vector<int> absent;
  for (int rank = 1; rank < run.ranks; ++rank)
    if (!sockets[size_t(rank)])
      absent.push_back(rank);
  return communicationError("rank 0 expects ", rankList(absent), " to join at ",
                            placeText(run.host, callers.port()), ", but ",
                            absent.size() == 1 ? "it has" : "they have",
                            " not come for ", numberText(timeout, 4), " s")
      .hint("a larger --timeout waits longer");
}

Status Guests::takeAll(double timeout) {
  const auto end = after(timeout);
  while (here < run.ranks) {
    auto caller = callers.next(end);
    if (!caller)
      return absence(timeout);
    if (caller->hello.kind != Hello::Join)
      continue;
    if (Status s = take(std::move(*caller)); !s)
      return s;
  }
  return Status::success();
}

/// A rank that does not take it in time reports a timeout of its own.
void Guests::tell(const Verdict &verdict) {
  const auto end = after(kAnswerSeconds);
  if (refused)
    (void)sendBy(refused.get(), &verdict, sizeof verdict, end);
  for (const Descriptor &socket : sockets)
    if (socket && sendBy(socket.get(), &verdict, sizeof verdict, end) &&
        verdict.code == int32_t(ExitCode::Ok))
      (void)sendBy(socket.get(), endpoints.data(),
                   endpoints.size() * sizeof(Endpoint), end);
}

static Expected<JoinedRun> joinAsFirst(const Rendezvous &run, double timeout) {
  auto listener = listenAsFirst(run);
  if (!listener)
    return listener.takeError();
  JoinedRun joined;
  joined.callers = Callers(std::move(*listener), run.key);
  Guests guests(run, joined.callers);
  Status all = guests.takeAll(timeout);
  Verdict verdict;
  if (!all) {
    verdict.code = int32_t(all.error().code());
    copyText(verdict.text, all.error().message());
  }
  guests.tell(verdict);
  if (!all)
    return all.takeError();
  return joined;
}

//===----------------------------------------------------------------------===//
// Further ranks
//===----------------------------------------------------------------------===//

namespace {
/// A rank that joins rank 0.
class Guest {
public:
  Guest(const Rendezvous &run, double timeout)
      : run(run), timeout(timeout), end(after(timeout)) {}

  Expected<JoinedRun> join();

private:
  Expected<Descriptor> reach();
  Expected<Descriptor> tryPort(int port);
  Expected<Descriptor> knock(const SocketAddress &address) const;
  Expected<Callers> listen();
  Expected<std::vector<SocketAddress>> readPlaces(int socket) const;

  const Rendezvous &run;
  const double timeout;
  const SocketClock::time_point end;
  Hello hello;
};
} // namespace

static Error joinError(const Rendezvous &run, const std::string &what) {
  return communicationError("rank ", run.rank, " expects rank 0 at ",
                            placeText(run.host, run.ports.front()), ", but ",
                            what);
}

/// Where this rank listens is known before it knocks.
Expected<Callers> Guest::listen() {
  std::vector<SocketAddress> own;
  if (run.isOneMachine)
    if (Status s = assign(resolve(run.host, 0), own); !s)
      return s.takeError();
  auto addresses = listeningAddresses(run, own);
  if (!addresses)
    return addresses.takeError();
  auto socket = listenAtFirst(*addresses, {0});
  if (!socket)
    return socket.takeError();
  const SocketAddress address = localAddress(socket->get());
  if (!run.interface.empty() || run.isOneMachine)
    copyText(hello.host, address.host());
  hello.port = address.port();
  return Callers(std::move(*socket), run.key);
}

/// Says who this rank is. The connection is good if rank 0 acknowledges it.
Expected<Descriptor> Guest::knock(const SocketAddress &address) const {
  const auto by = std::min(end, after(kAnswerSeconds));
  auto socket = connectTo(address, by);
  if (!socket)
    return socket;
  Acknowledgement answer;
  if (!sendBy(socket->get(), &hello, sizeof hello, by) ||
      !receiveBy(socket->get(), &answer, sizeof answer, by))
    return joinError(run, SocketClock::now() < by
                              ? "the process there closes the connection"
                              : "the process there does not answer");
  if (std::memcmp(answer.magic, Hello::kMagic, sizeof answer.magic) != 0)
    return joinError(run, "something else answers there");
  if (answer.answer == Acknowledgement::OtherVersion)
    return joinError(run, "a rank of another version of weft is there");
  if (answer.answer != Acknowledgement::Joined)
    return joinError(run, "a rank of another run, or with another " +
                              std::string(kSecretVariable) + ", is there");
  return socket;
}

Expected<Descriptor> Guest::tryPort(int port) {
  auto addresses = resolve(run.host, port);
  if (!addresses)
    return addresses.takeError();
  Expected<Descriptor> last = joinError(run, "it has no address");
  for (const SocketAddress &address : *addresses) {
    last = knock(address);
    if (last)
      break;
  }
  return last;
}

/// Rank 0 may start later than this one.
Expected<Descriptor> Guest::reach() {
  for (;;) {
    std::unique_ptr<Error> first;
    for (int port : run.ports) {
      auto socket = tryPort(port);
      if (socket)
        return socket;
      if (!first)
        first = std::make_unique<Error>(socket.takeError());
    }
    if (SocketClock::now() + kRetry >= end)
      return communicationError("rank " + std::to_string(run.rank) +
                                " has tried to join rank 0 for " +
                                numberText(timeout, 4) +
                                " s: " + first->message())
          .hint("a larger --timeout waits longer");
    std::this_thread::sleep_for(kRetry);
  }
}

/// Rank 0 sends its error, or the addresses of all ranks.
Expected<std::vector<SocketAddress>> Guest::readPlaces(int socket) const {
  const auto by = after(timeout + kVerdictSeconds);
  Verdict verdict;
  std::vector<Endpoint> endpoints(size_t(run.ranks));
  if (!receiveBy(socket, &verdict, sizeof verdict, by))
    return joinError(run, "it has left before all ranks had joined");
  if (verdict.code != int32_t(ExitCode::Ok))
    return Error(ExitCode(verdict.code),
                 std::string(verdict.text, strnlen(verdict.text, 507)))
        .saidBy(false);
  if (!receiveBy(socket, endpoints.data(), endpoints.size() * sizeof(Endpoint),
                 by))
    return joinError(run, "it has left as ranks joined");
  const SocketAddress first = peerAddress(socket);
  std::vector<SocketAddress> places = {first};
  for (int rank = 1; rank < run.rank; ++rank) {
    const Endpoint &there = endpoints[size_t(rank)];
    const std::string host(there.host, strnlen(there.host, sizeof there.host));
    if (host.empty()) {
      places.push_back(withPort(first, there.port));
      continue;
    }
    auto address = resolve(host, there.port);
    if (!address)
      return address.takeError();
    places.push_back(address->front());
  }
  return places;
}

Expected<JoinedRun> Guest::join() {
  hello = makeHello(Hello::Join, run.rank, run.ranks, run.key);
  auto listening = listen();
  if (!listening)
    return listening.takeError();
  auto socket = reach();
  if (!socket)
    return socket.takeError();
  auto places = readPlaces(socket->get());
  if (!places)
    return places.takeError();
  return JoinedRun{std::move(*listening), std::move(*places)};
}

Expected<JoinedRun> weft::joinRun(const Rendezvous &run, double timeout) {
  if (run.rank == 0)
    return joinAsFirst(run, timeout);
  return Guest(run, timeout).join();
}
