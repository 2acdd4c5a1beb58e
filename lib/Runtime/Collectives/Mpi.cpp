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
          mpi().isend(&kHeartbeat, 1, mpi().byte, other, kHeartbeatTag,
                      mpi().world, &request) == MPI_SUCCESS)
        mpi().requestFree(&request);
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
  if (mpi().iprobe(MPI_ANY_SOURCE, kHeartbeatTag, mpi().world, &isThere,
                   &status) != MPI_SUCCESS ||
      !isThere ||
      mpi().recv(&beat, 1, mpi().byte, status.MPI_SOURCE, kHeartbeatTag,
                 mpi().world, MPI_STATUS_IGNORE) != MPI_SUCCESS)
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
  Status finish() override { return checked(mpi().finalize(), "MPI_Finalize"); }

private:
  const int number, count;
};

} // namespace

Expected<std::unique_ptr<RankProcess>> weft::joinMpi() {
  if (Status s = openMpi(); !s)
    return s.takeError().saidBy(findRankNumber() == 0);
  int hasBegun = 0, threads = 0, rank = 0, ranks = 1;
  mpi().initialized(&hasBegun);
  if (hasBegun)
    return internalError(
        "expects a process to join MPI once, but got a second time");
  if (Status s = checked(
          mpi().initThread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads),
          "MPI_Init_thread");
      !s)
    return s.takeError();
  if (threads < MPI_THREAD_MULTIPLE)
    return communicationError(
        "expects an MPI that any thread may call, but got one of level ",
        threads);
  mpi().commSetErrhandler(mpi().world, mpi().errorsReturn);
  mpi().commRank(mpi().world, &rank);
  mpi().commSize(mpi().world, &ranks);
  return std::unique_ptr<RankProcess>(
      std::make_unique<JoinedProcess>(rank, ranks));
}
