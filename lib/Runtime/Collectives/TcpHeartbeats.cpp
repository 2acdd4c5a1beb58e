//===- TcpHeartbeats.cpp - Heartbeats and notices over TCP ----------------===//

#include "TcpHeartbeats.h"

#include <algorithm>
#include <poll.h>
#include <thread>

using namespace weft;

/// A smaller byte is a FailureNotice.
static constexpr char kHeartbeat = 'b';
static_assert(kFailureNotices <= kHeartbeat);
/// In which the system closes all connections of a process that was ended.
static constexpr std::chrono::milliseconds kClosing(200), kPause(2);

TcpHeartbeats::TcpHeartbeats(std::vector<Descriptor> sockets) {
  for (Descriptor &each : sockets) {
    peers.emplace_back();
    peers.back().socket = std::move(each);
  }
}

/// A full connection holds enough heartbeats: it drops this one.
void TcpHeartbeats::sendWord(char word) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Peer &peer : peers)
    if (peer.socket)
      (void)sendSome(peer.socket.get(), &word, 1);
}

void TcpHeartbeats::send(int) { sendWord(kHeartbeat); }
void TcpHeartbeats::notify(FailureNotice notice) { sendWord(char(notice)); }

bool TcpHeartbeats::hasNotified(int rank, FailureNotice notice) {
  std::lock_guard<std::mutex> lock(mutex);
  Peer &peer = peers[size_t(rank)];
  read(peer);
  return peer.notices.test(size_t(notice));
}

void TcpHeartbeats::read(Peer &peer) {
  char words[256];
  while (peer.socket && !peer.isClosed) {
    const Moved moved = receiveSome(peer.socket.get(), words, sizeof words);
    for (size_t i = 0; i < moved.bytes; ++i) {
      peer.heartbeats += words[i] == kHeartbeat;
      if (words[i] >= 0 && words[i] < kFailureNotices)
        peer.notices.set(size_t(words[i]));
    }
    peer.isClosed = moved.isClosed;
    if (moved.bytes == 0)
      break;
  }
}

/// Those of all are read, so that no connection is full for long.
int64_t TcpHeartbeats::count(int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Peer &peer : peers)
    read(peer);
  return peers[size_t(rank)].heartbeats;
}

bool TcpHeartbeats::hasEnded(int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  Peer &peer = peers[size_t(rank)];
  read(peer);
  return peer.isClosed && !peer.saysEnd();
}

bool TcpHeartbeats::hasLeft(int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  Peer &peer = peers[size_t(rank)];
  read(peer);
  return peer.isClosed || peer.saysEnd();
}

bool TcpHeartbeats::hasDied(int rank) {
  for (const auto end = SocketClock::now() + kClosing;;) {
    if (hasEnded(rank))
      return true;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (peers[size_t(rank)].notices.any())
        return false;
    }
    if (SocketClock::now() >= end)
      return false;
    std::this_thread::sleep_for(kPause);
  }
}

std::vector<int> TcpHeartbeats::findWorking() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<int> working;
  for (size_t rank = 0; rank < peers.size(); ++rank) {
    read(peers[rank]);
    if (peers[rank].socket && !peers[rank].saysEnd() && !peers[rank].isClosed)
      working.push_back(int(rank));
  }
  return working;
}

std::vector<int> TcpHeartbeats::awaitEnds(double seconds) {
  for (const auto end = after(seconds);;) {
    std::vector<int> working = findWorking();
    if (working.empty() || SocketClock::now() >= end)
      return working;
    (void)awaitSocket(peers[size_t(working.front())].socket.get(), POLLIN, end);
  }
}
