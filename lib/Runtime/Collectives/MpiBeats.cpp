//===- MpiBeats.cpp - Signs of life of processes of MPI -------------------===//

#include "MpiBeats.h"

#include "MpiCalls.h"

#include <vector>

using namespace weft;

/// Is sent as it is, at any time.
static const char kBeat = 1;

namespace {
class MpiBeats final : public Beats {
public:
  explicit MpiBeats(int ranks) : counts(size_t(ranks)) {}

  /// A rank that does not get it finds out what is wrong for itself.
  void beat(int rank) override {
    for (int other = 0; other < int(counts.size()); ++other) {
      MPI_Request request;
      if (other != rank && MPI_Isend(&kBeat, 1, MPI_BYTE, other, kMpiBeatTag,
                                     MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    }
  }
  int64_t heard(int rank) override {
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

/// Whether there was one.
bool MpiBeats::readOne() {
  int isThere = 0;
  char beat = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kMpiBeatTag, MPI_COMM_WORLD, &isThere,
                 &status) != MPI_SUCCESS ||
      !isThere ||
      MPI_Recv(&beat, 1, MPI_BYTE, status.MPI_SOURCE, kMpiBeatTag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  ++counts[size_t(status.MPI_SOURCE)];
  return true;
}

std::shared_ptr<Beats> weft::makeMpiBeats(int ranks) {
  return std::make_shared<MpiBeats>(ranks);
}
