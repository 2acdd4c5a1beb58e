//===- TcpTransport.h - Pieces between processes over TCP -------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_TCPTRANSPORT_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_TCPTRANSPORT_H

#include "Peers.h"
#include "TcpHeartbeats.h"
#include "weft/Runtime/Collectives/Transport.h"

namespace weft {

class ExchangeTimer;

/// State that the transports of a process share.
struct TcpRun {
  Peers peers;
  std::shared_ptr<TcpHeartbeats> heartbeats;
  int64_t nextLink = 0; // number of a connection that this process has not used

  explicit TcpRun(Peers peers) : peers(std::move(peers)) {}
};

class TcpTransport final : public Transport {
public:
  /// `members` are ranks of the run, by rank of this transport, and `sockets`
  /// lead to them.
  TcpTransport(std::vector<int> members, int rank,
               std::vector<Descriptor> sockets, std::shared_ptr<TcpRun> run);
  void notify(FailureNotice notice) override;
  bool hasNotified(int rank, FailureNotice notice) override;

private:
  /// The first bytes of a piece.
  struct Header {
    int64_t bytes = 0; // of a piece
    char title[kTitleBytes] = {};
  };
  /// How much of header and piece has gone to a rank, and has come from it.
  struct Peer {
    Descriptor socket;
    Header header; // that has come
    size_t sent = 0, received = 0;
    bool isClosed = false;
  };

  Status exchangeAll(const char *const *send, char *const *receive,
                     int64_t bytes, std::string_view title) override;
  Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &colors) override;

  size_t whole() const { return sizeof(Header) + size_t(own.bytes); }
  bool isDone(const Peer &peer) const;
  bool sendTo(Peer &peer, const char *piece);
  Expected<bool> receiveFrom(int rank, char *piece);
  Status checkHeader(int rank) const;
  Expected<bool> moveAll(const char *const *send, char *const *receive);
  void wait(double seconds) const;
  Status checkPresent();
  Status checkTimeouts(ExchangeTimer &timer);

  Header own;
  std::vector<Peer> peers;
  const std::shared_ptr<TcpRun> run;
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_TCPTRANSPORT_H
