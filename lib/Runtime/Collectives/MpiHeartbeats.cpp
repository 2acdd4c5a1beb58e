//===- MpiHeartbeats.cpp - Heartbeats over MPI ----------------------------===//

#include "MpiHeartbeats.h"

#include "MpiCalls.h"

#include <vector>

using namespace weft;

/// A constant, since MPI may read it at any later time.
static const char kHeartbeat = 1;

namespace {
class MpiHeartbeats final : public Heartbeats {
public:
  explicit MpiHeartbeats(int ranks) : counts(size_t(ranks)) {}

  /// Ignores failures: the receiver detects them itself.
  void send(int rank) override {
    for (int other = 0; other < int(counts.size()); ++other) {
      MPI_Request request;
      if (other != rank &&
          MPI_Isend(&kHeartbeat, 1, MPI_BYTE, other, kMpiHeartbeatTag,
                    MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    }
  }
  int64_t count(int rank) override {
    std::lock_guard<std::mutex> lock(mutex);
    while (readOne())
      continue;
    return counts[size_t(rank)];
  }

private:
  bool readOne();

  std::mutex mutex; // one thread reads
  std::vector<int64_t> counts;
};
} // namespace

/// Receives one heartbeat; false if none has arrived.
bool MpiHeartbeats::readOne() {
  int isThere = 0;
  char beat = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kMpiHeartbeatTag, MPI_COMM_WORLD, &isThere,
                 &status) != MPI_SUCCESS ||
      !isThere ||
      MPI_Recv(&beat, 1, MPI_BYTE, status.MPI_SOURCE, kMpiHeartbeatTag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  ++counts[size_t(status.MPI_SOURCE)];
  return true;
}

std::shared_ptr<Heartbeats> weft::makeMpiHeartbeats(int ranks) {
  return std::make_shared<MpiHeartbeats>(ranks);
}
