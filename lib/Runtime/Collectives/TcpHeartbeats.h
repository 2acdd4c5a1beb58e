//===- TcpHeartbeats.h - Heartbeats and notices over TCP --------*- C++ -*-===//
//-*-===//
//
// Each two processes of a run have one connection that lives as long as they
// do. It carries heartbeats and failure notices. A process that ends by itself
// sends FailureNotice::Ended: one whose connection ends without it was ended.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_TCPHEARTBEATS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_TCPHEARTBEATS_H

#include "Sockets.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <bitset>

namespace weft {

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

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_TCPHEARTBEATS_H
