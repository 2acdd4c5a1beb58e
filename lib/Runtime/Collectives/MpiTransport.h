//===- MpiTransport.h - Messages between processes of MPI -------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_MPITRANSPORT_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_MPITRANSPORT_H

#include "MpiCalls.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <atomic>
#include <functional>
#include <memory>

namespace weft {

class Patience;

/// Ranks of MPI_COMM_WORLD, or a group of them.
class MpiTransport final : public Transport {
public:
  /// Which numbers of communicators this process has not used yet: a tag is
  /// such a number, and whether a message is a header.
  using Numbers = std::shared_ptr<std::atomic<int64_t>>;

  /// `members` are the ranks of MPI_COMM_WORLD, by rank of this one.
  MpiTransport(std::vector<int> members, int rank, int64_t number,
               Numbers numbers);
  ~MpiTransport() override;
  std::vector<int> takeLeave(double seconds) override;
  bool awaitLeave(int rank, double seconds) override;

private:
  /// What a rank is about to send.
  struct Header {
    int64_t bytes = kGone; // of a piece
    char title[kTitleBytes] = {};
    static constexpr int64_t kGone = -1;
  };
  /// Who leaves may end before the message is on its way: it lives for ever.
  static const Header goodbye;

  struct Peer {
    Header incoming;          // where the next one is received
    Header current;           // of this exchange
    bool isHere = false;      // `current` has come
    bool isAhead = false;     // `incoming` has come too
    bool isReceiving = false; // the bytes behind `current`
    bool hasLeft = false;
    int pending = 0; // messages of this exchange that have not ended

    bool isDone() const { return isReceiving && pending == 0; }
  };

  Status exchangeAll(const char *const *send, char *const *receive,
                     int64_t bytes, std::string_view title) override;
  Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &colors) override;

  void sayGoodbye();
  void listen(double seconds, const std::function<bool()> &isDone);
  int tag(bool isHeader) const { return int(2 * number + isHeader); }
  Status expectHeader(int peer);
  Status takeHeader(int peer);
  Status add(int peer, int code, MPI_Request request, const char *call);
  Status send(int peer, const char *piece);
  Status receive(int peer, char *piece);
  Status poll(bool &isProgress);
  Status ended(int index);
  Status answerHeaders(char *const *pieces);
  Status waitForAll(char *const *pieces);
  Status checkPresent();
  std::vector<int> findSilent(Patience &patience);
  Status giveUp(const std::vector<int> &silent);
  std::vector<int> findLeft() const;
  Status endExchange();

  const int64_t number;
  const Numbers numbers;
  Header own;
  std::vector<Peer> peers;
  /// The header that is expected of each rank, then messages of the exchange.
  std::vector<MPI_Request> requests;
  std::vector<int> peerOf; // of each request
  std::vector<int> endedNow;
  std::vector<MPI_Status> statuses;
  Status startFailure;
  bool hasTakenLeave = false;
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_MPITRANSPORT_H
