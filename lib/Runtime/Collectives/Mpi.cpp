//===- Mpi.cpp - Ranks that are processes of MPI --------------------------===//

#include "weft/Runtime/Collectives/Mpi.h"

#include "MpiHeartbeats.h"
#include "MpiTransport.h"

using namespace weft;

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
    world->setHeartbeats(makeMpiHeartbeats(count));
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
    return Error(ExitCode::Internal,
                 "expects a process to join MPI once, but got a second time");
  if (Status s = checked(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads),
          "MPI_Init_thread");
      !s)
    return s.takeError();
  if (threads < MPI_THREAD_MULTIPLE)
    return Error(ExitCode::Communication,
                 "expects an MPI that any thread may call, but got one of "
                 "level " +
                     std::to_string(threads));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return std::unique_ptr<RankProcess>(
      std::make_unique<JoinedProcess>(rank, ranks));
}
