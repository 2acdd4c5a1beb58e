//===- MpiTransport.h - Messages between processes of MPI -------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_MPITRANSPORT_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_MPITRANSPORT_H

#include "MpiLibrary.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <atomic>
#include <bitset>
#include <memory>

namespace weft {

/// An error that names the call, unless it has succeeded.
inline Status checked(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return Status::success();
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  mpi().errorString(code, text, &length);
  return communicationError("expects ", call, " to succeed, but got ",
                            std::string(text, size_t(length)));
}

/// Ranks of MPI_COMM_WORLD, or a group of them.
class MpiTransport final : public Transport {
public:
  /// The first communicator number that this process has not used yet. A tag
  /// combines such a number with whether the message is a header.
  using Numbers = std::shared_ptr<std::atomic<int64_t>>;

  /// `members` are the ranks of MPI_COMM_WORLD, by rank of this one.
  MpiTransport(std::vector<int> members, int rank, int64_t number,
               Numbers numbers);
  ~MpiTransport() override;
  void notify(FailureNotice notice) override;
  bool hasNotified(int rank, FailureNotice notice) override;

private:
  /// Announces the piece that a rank sends next.
  struct Header {
    int64_t bytes = 0; // of a piece; ~n: the FailureNotice n
    char title[kTitleBytes] = {};
  };

  struct Peer {
    Header incoming;          // buffer of the posted receive
    Header current;           // of this exchange
    Header next;              // of the exchange after this one
    bool isHere = false;      // `current` has arrived
    bool isAhead = false;     // `next` has arrived
    bool isReceiving = false; // the bytes that `current` announces
    int pending = 0;          // messages of this exchange that have not ended
    std::bitset<kFailureNotices> notices;

    bool isDone() const { return isReceiving && pending == 0; }
    bool hasLeft() const { return notices.any(); }
  };

  Status exchangeAll(const char *const *send, char *const *receive,
                     int64_t bytes, std::string_view title) override;
  Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &colors) override;

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
  std::vector<int> findLeft() const;
  Status endExchange();

  const int64_t number;
  const Numbers numbers;
  Header own;
  std::vector<Peer> peers;
  /// The header receive of each rank, then the messages of the exchange.
  std::vector<MPI_Request> requests;
  std::vector<int> peerOf; // of each request
  std::vector<int> endedNow;
  std::vector<MPI_Status> statuses;
  Status startFailure;
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_MPITRANSPORT_H
