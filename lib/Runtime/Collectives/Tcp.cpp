//===- Tcp.cpp - Ranks that are processes and talk over TCP ---------------===//

#include "weft/Runtime/Collectives/Tcp.h"

#include "TcpTransport.h"
#include "weft/Runtime/Collectives/LaunchHeartbeat.h"

#include <numeric>

using namespace weft;

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
