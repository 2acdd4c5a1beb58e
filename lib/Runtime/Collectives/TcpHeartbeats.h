//===- TcpHeartbeats.h - Signs of life over TCP -----------------*- C++ -*-===//
//
// Each two processes of a run have one connection that lives as long as they
// do. It carries heartbeats, and a last word of a process that ends by itself:
// one whose connection ends without it was ended.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_TCPHEARTBEATS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_TCPHEARTBEATS_H

#include "Sockets.h"
#include "weft/Runtime/Collectives/Beats.h"

namespace weft {

/// Any thread may call it.
class TcpHeartbeats final : public Beats {
public:
  /// Connections by rank; none to this one.
  explicit TcpHeartbeats(std::vector<Descriptor> sockets);

  void beat(int rank) override;
  int64_t heard(int rank) override;

  /// Tells the others that this process ends, and says why where it fails.
  void sayGoodbye();
  bool hasEnded(int rank) override;
  bool hasLeft(int rank) override;
  /// The same of one that has closed another connection: its last word may
  /// still be on its way.
  bool hasDied(int rank);

  /// Waits for the last words of all others: the ranks that have neither said
  /// one nor ended after so many seconds.
  std::vector<int> awaitGoodbyes(double seconds);

private:
  struct Peer {
    Descriptor socket;
    int64_t beats = 0;
    bool saidGoodbye = false, isClosed = false;
  };

  void send(char word);
  void read(Peer &peer);
  std::vector<int> findWorking();

  std::mutex mutex;
  std::vector<Peer> peers;
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_TCPHEARTBEATS_H
