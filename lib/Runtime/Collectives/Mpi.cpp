//===- Mpi.cpp - Ranks that are processes of MPI --------------------------===//

#include "weft/Runtime/Collectives/Processes.h"

#include "MpiTransport.h"

using namespace weft;

/// The tag of heartbeats, which no transport uses.
static constexpr int kHeartbeatTag = 0;
/// A constant, since MPI may read it at any later time.
static const char kHeartbeat = 1;

namespace {
/// Heartbeats of the ranks of MPI_COMM_WORLD. They are received when somebody
/// asks for their number.
class MpiHeartbeats final : public Heartbeats {
public:
  explicit MpiHeartbeats(int ranks) : counts(size_t(ranks)) {}

  /// Ignores failures: the receiver detects them itself.
  void send(int rank) override {
    for (int other = 0; other < int(counts.size()); ++other) {
      MPI_Request request;
      if (other != rank &&
          MPI_Isend(&kHeartbeat, 1, MPI_BYTE, other, kHeartbeatTag,
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
  if (MPI_Iprobe(MPI_ANY_SOURCE, kHeartbeatTag, MPI_COMM_WORLD, &isThere,
                 &status) != MPI_SUCCESS ||
      !isThere ||
      MPI_Recv(&beat, 1, MPI_BYTE, status.MPI_SOURCE, kHeartbeatTag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  ++counts[size_t(status.MPI_SOURCE)];
  return true;
}

namespace {

class JoinedProcess final : public RankProcess {
public:
  JoinedProcess(int rank, int ranks) : number(rank), count(ranks) {}

  int rank() const override { return number; }
  int ranks() const override { return count; }
  std::unique_ptr<Transport> connect() override {
    std::vector<int> all;
    for (int rank = 0; rank < count; ++rank)
      all.push_back(rank);
    // The tag of heartbeats is one of the first number's.
    auto world = std::make_unique<MpiTransport>(
        std::move(all), number, 1, std::make_shared<std::atomic<int64_t>>(2));
    world->setHeartbeats(std::make_shared<MpiHeartbeats>(count));
    return world;
  }
  Status finish() override { return checked(MPI_Finalize(), "MPI_Finalize"); }

private:
  const int number, count;
};

} // namespace

Expected<std::unique_ptr<RankProcess>> weft::joinMpi() {
  int hasBegun = 0, threads = 0, rank = 0, ranks = 1;
  MPI_Initialized(&hasBegun);
  if (hasBegun)
    return internalError(
        "expects a process to join MPI once, but got a second time");
  if (Status s = checked(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads),
          "MPI_Init_thread");
      !s)
    return s.takeError();
  if (threads < MPI_THREAD_MULTIPLE)
    return communicationError(
        "expects an MPI that any thread may call, but got one of level ",
        threads);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return std::unique_ptr<RankProcess>(
      std::make_unique<JoinedProcess>(rank, ranks));
}
