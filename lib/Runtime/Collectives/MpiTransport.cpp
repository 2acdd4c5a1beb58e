//===- MpiTransport.cpp - Messages between processes of MPI ---------------===//
//
// Nothing here blocks inside MPI, which spins while it waits and has no
// timeout. Messages are point-to-point, so that the missing rank is known, and
// are polled with pauses. A piece takes two messages: a header that announces
// it, and its bytes. A receive of a header is always posted, so that a
// FailureNotice is read at once. The receive of the bytes is posted only after
// the header matches: MPI may write to it at any later time, even after the
// exchange has failed.
//
//===----------------------------------------------------------------------===//

#include "MpiTransport.h"

#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <thread>

using namespace weft;

/// MPI counts in ints; a message is at most as long.
constexpr int64_t kMessageBytes = int64_t(1) << 30;

namespace {

/// Pauses between polls: none at first, since most messages come soon; then a
/// part of the time that has been waited, by which a wait may be longer. A poll
/// and a pause take about 25 us of a processor (Open MPI 4.1), so that the
/// longest pause makes it 0.025 s a second.
class Pauses {
public:
  void restart() { begin = ExchangeTimer::Clock::now(); }
  void take() const {
    constexpr std::chrono::microseconds shortest(50), longest(1000);
    const auto waited = ExchangeTimer::Clock::now() - begin;
    if (waited < 2 * shortest)
      return std::this_thread::yield();
    std::this_thread::sleep_for(std::clamp<ExchangeTimer::Clock::duration>(
        waited / 16, shortest, longest));
  }

private:
  ExchangeTimer::Clock::time_point begin = ExchangeTimer::Clock::now();
};

} // namespace

//===- Messages -----------------------------------------------------------===//

MpiTransport::MpiTransport(std::vector<int> members, int rank, int64_t number,
                           Numbers numbers)
    : Transport(rank, std::move(members)), number(number),
      numbers(std::move(numbers)), peers(size_t(ranks())),
      requests(size_t(ranks()), mpi().noRequest) {
  for (int peer = 0; peer < ranks(); ++peer) {
    peerOf.push_back(peer);
    // The own piece is copied before all others.
    peers[size_t(peer)].isHere = peers[size_t(peer)].isReceiving = peer == rank;
    if (peer == rank || !startFailure)
      continue;
    startFailure = expectHeader(peer);
  }
}

MpiTransport::~MpiTransport() {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == mpi().noRequest)
      continue;
    // Of a failed exchange: it never ends, unless it is a receive that nothing
    // has come for.
    mpi().cancel(&requests[i]);
    if (i < peers.size())
      mpi().wait(&requests[i], MPI_STATUS_IGNORE);
    else
      mpi().requestFree(&requests[i]);
  }
  notify(FailureNotice::Ended);
}

/// The transport may end before its messages are on their way: they are
/// constants.
void MpiTransport::notify(FailureNotice notice) {
  static const std::array<Header, kFailureNotices> messages = [] {
    std::array<Header, kFailureNotices> all;
    for (int i = 0; i < kFailureNotices; ++i)
      all[size_t(i)].bytes = ~int64_t(i);
    return all;
  }();
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank())
      continue;
    MPI_Request request;
    if (mpi().isend(&messages[size_t(notice)], sizeof(Header), mpi().byte,
                    nameOf(peer), tag(true), mpi().world,
                    &request) == MPI_SUCCESS)
      mpi().requestFree(&request);
  }
}

bool MpiTransport::hasNotified(int rank, FailureNotice notice) {
  // Whether other messages have failed does not matter any more.
  bool isProgress = false;
  (void)poll(isProgress);
  return peers[size_t(rank)].notices.test(size_t(notice));
}

Status MpiTransport::expectHeader(int peer) {
  return checked(mpi().irecv(&peers[size_t(peer)].incoming, sizeof(Header),
                             mpi().byte, nameOf(peer), tag(true), mpi().world,
                             &requests[size_t(peer)]),
                 "MPI_Irecv");
}

/// A header belongs to the next exchange if this exchange already has one of
/// the peer.
Status MpiTransport::takeHeader(int peer) {
  Peer &from = peers[size_t(peer)];
  const Header header = from.incoming;
  if (header.bytes < 0) {
    const size_t notice = std::min(size_t(~header.bytes), from.notices.size());
    if (notice == from.notices.size())
      return internalError("expects a FailureNotice, but got ", ~header.bytes);
    from.notices.set(notice);
    if (notice == size_t(FailureNotice::Ended))
      return Status::success();
  } else {
    (from.isHere ? from.next : from.current) = header;
    (from.isHere ? from.isAhead : from.isHere) = true;
  }
  return expectHeader(peer);
}

Status MpiTransport::add(int peer, int code, MPI_Request request,
                         const char *call) {
  if (code != MPI_SUCCESS)
    return checked(code, call);
  requests.push_back(request);
  peerOf.push_back(peer);
  ++peers[size_t(peer)].pending;
  return Status::success();
}

/// A piece with its header in front.
Status MpiTransport::send(int peer, const char *piece) {
  const int other = nameOf(peer);
  MPI_Request request = mpi().noRequest;
  int code = mpi().isend(&own, sizeof own, mpi().byte, other, tag(true),
                         mpi().world, &request);
  Status status = add(peer, code, request, "MPI_Isend");
  for (int64_t begin = 0; begin < own.bytes && status; begin += kMessageBytes) {
    code = mpi().isend(piece + begin,
                       int(std::min(kMessageBytes, own.bytes - begin)),
                       mpi().byte, other, tag(false), mpi().world, &request);
    status = add(peer, code, request, "MPI_Isend");
  }
  return status;
}

Status MpiTransport::receive(int peer, char *piece) {
  Status status;
  for (int64_t begin = 0; begin < own.bytes && status; begin += kMessageBytes) {
    MPI_Request request = mpi().noRequest;
    const int code = mpi().irecv(
        piece + begin, int(std::min(kMessageBytes, own.bytes - begin)),
        mpi().byte, nameOf(peer), tag(false), mpi().world, &request);
    status = add(peer, code, request, "MPI_Irecv");
  }
  return status;
}

/// Takes note of what has ended.
Status MpiTransport::poll(bool &isProgress) {
  int count = 0;
  endedNow.resize(requests.size());
  statuses.resize(requests.size());
  const int code = mpi().testsome(int(requests.size()), requests.data(), &count,
                                  endedNow.data(), statuses.data());
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
    return checked(code, "MPI_Testsome");
  isProgress = count != MPI_UNDEFINED && count > 0;
  // Handles all of them, so that a failure loses no header.
  Status first;
  for (int i = 0; i < count; ++i) {
    // Without MPI_ERR_IN_STATUS these are undefined.
    const int own = code == MPI_SUCCESS ? code : statuses[size_t(i)].MPI_ERROR;
    Status s = own == MPI_SUCCESS ? ended(endedNow[size_t(i)])
                                  : checked(own, "MPI_Testsome");
    if (first && !s)
      first = std::move(s);
  }
  return first;
}

Status MpiTransport::ended(int index) {
  if (index < ranks())
    return takeHeader(index);
  --peers[size_t(peerOf[size_t(index)])].pending;
  return Status::success();
}

//===- Exchange -----------------------------------------------------------===//

Status MpiTransport::exchangeAll(const char *const *pieces,
                                 char *const *incoming, int64_t bytes,
                                 std::string_view title) {
  if (!startFailure)
    return startFailure.error();
  own = Header();
  own.bytes = bytes;
  std::memcpy(own.title, title.data(), title.size());
  for (int i = 1; i < ranks(); ++i) {
    const int peer = (rank() + i) % ranks();
    if (Status s = send(peer, pieces[peer]); !s)
      return s;
  }
  if (Status s = waitForAll(incoming); !s)
    return s;
  return endExchange();
}

Status MpiTransport::waitForAll(char *const *pieces) {
  ExchangeTimer timer(timeout(), ranks());
  Pauses pauses;
  auto isDone = [](const Peer &peer) { return peer.isDone(); };
  while (!std::all_of(peers.begin(), peers.end(), isDone)) {
    bool isProgress = false;
    if (Status s = answerHeaders(pieces); !s)
      return s;
    if (Status s = poll(isProgress); !s)
      return s;
    if (isProgress) {
      timer.restart();
      pauses.restart();
      continue;
    }
    // Checked only without progress: all messages that a rank has sent before
    // it left have arrived.
    if (Status s = checkPresent(); !s)
      return s;
    if (Status s = checkTimeouts(timer, own.title,
                                 [&](int peer) {
                                   const Peer &from = peers[size_t(peer)];
                                   return !from.isDone() && !from.hasLeft();
                                 });
        !s)
      return s;
    pauses.take();
  }
  return Status::success();
}

/// Receives from the ranks that have said that they send what this one expects.
Status MpiTransport::answerHeaders(char *const *pieces) {
  for (int peer = 0; peer < ranks(); ++peer) {
    Peer &from = peers[size_t(peer)];
    if (!from.isHere || from.isReceiving)
      continue;
    Header &other = from.current;
    other.title[kTitleBytes - 1] = '\0';
    if (other.bytes != own.bytes || std::strcmp(other.title, own.title) != 0)
      return collectiveMismatchError(nameOf(rank()), own.title, own.bytes,
                                     nameOf(peer), other.title, other.bytes);
    from.isReceiving = true;
    if (Status s = receive(peer, pieces[peer]); !s)
      return s;
  }
  return Status::success();
}

/// Ranks that this exchange waits for, and that have left.
std::vector<int> MpiTransport::findLeft() const {
  std::vector<int> found;
  for (int peer = 0; peer < ranks(); ++peer)
    if (!peers[size_t(peer)].isDone() && peers[size_t(peer)].hasLeft())
      found.push_back(peer);
  return found;
}

Status MpiTransport::checkPresent() {
  const std::vector<int> gone = findLeft();
  if (gone.empty())
    return Status::success();
  setAbsent(gone, /*haveLeft=*/true);
  return leftError(missing().front(), own.title);
}

/// Headers of the next exchange may have come already.
Status MpiTransport::endExchange() {
  requests.resize(peers.size());
  peerOf.resize(peers.size());
  for (int peer = 0; peer < ranks(); ++peer) {
    Peer &from = peers[size_t(peer)];
    if (peer == rank())
      continue;
    from.current = from.next;
    from.isHere = from.isAhead;
    from.isAhead = from.isReceiving = false;
  }
  return Status::success();
}

//===- Groups -------------------------------------------------------------===//

/// Numbers of communicators, from 0: an MPI library has so many tags.
static bool hasTags(int64_t number) {
  int *most = nullptr, isSet = 0;
  mpi().commGetAttr(mpi().world, MPI_TAG_UB, &most, &isSet);
  return 2 * number + 1 <= (isSet ? *most : 32767);
}

/// A group takes the first number that none of the ranks has used: no two
/// communicators of two ranks have the same. MPI's own split would spin, and
/// wait for ever.
Expected<std::unique_ptr<Transport>>
MpiTransport::splitBy(const std::vector<int> &colors) {
  auto unused = gather(numbers->load(), "the numbers of a split");
  if (!unused)
    return unused.takeError();
  const int64_t first = *std::max_element(unused->begin(), unused->end());
  const std::set<int> groups(colors.begin(), colors.end());
  const int color = colors[size_t(rank())];
  const int64_t mine =
      first + std::distance(groups.begin(), groups.find(color));
  if (!hasTags(mine))
    return communicationError(
        "expects fewer communicators than MPI has tags, but got ", mine + 1);
  numbers->store(first + int64_t(groups.size()));
  auto [part, place] = membersOf(colors);
  return std::unique_ptr<Transport>(
      std::make_unique<MpiTransport>(std::move(part), place, mine, numbers));
}
