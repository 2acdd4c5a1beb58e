//===- Communicator.h - Collectives over a transport ------------*- C++ -*-===//
//
// Written once above every transport. Sums are taken in the order of ranks,
// whatever moves the bytes: results have the same bits with threads and with
// processes, and on every rank. Tensors go in chunks, on which no bits depend
// either, so that what a communicator stages is bounded.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H
#define WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H

#include "weft/Runtime/Collectives/Reduce.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <chrono>
#include <functional>

namespace weft {

/// Numbers are what a run tells the ranks beside its programs.
enum class Collective { AllGather, ReduceScatter, AllReduce, Numbers };

/// What the collectives of one kind have cost this rank.
struct CollectiveCount {
  int64_t calls = 0;
  int64_t bytes = 0; // sent to other ranks
  int64_t nanoseconds = 0;
};

/// One thread at a time uses it. All ranks call alike, or all fail with exit 7:
/// titles, sizes, types and divisors are compared, and the number of the
/// collective, so that a rank that has skipped one is found.
class Communicator {
public:
  static constexpr int64_t kStagingBytes = 1 << 20;

  /// About `stagingBytes` are for pieces of other ranks; all ranks have as
  /// many.
  explicit Communicator(std::unique_ptr<Transport> transport,
                        int64_t stagingBytes = kStagingBytes);

  int rank() const { return transport->rank(); }
  int ranks() const { return transport->ranks(); }
  const Transport &connection() const { return *transport; }
  /// How long collectives wait for other ranks from now on.
  void setTimeout(double seconds) { transport->setTimeout(seconds); }

  /// Writes the `bytes` of each rank to `full`, one after the other. `slice`
  /// may be its place in `full`. Counts as the collective that it is a part of.
  Status allGather(const void *slice, void *full, int64_t bytes,
                   std::string_view title,
                   Collective kind = Collective::AllGather);
  /// Writes the slice of this rank of the sum (sumPieces) to `slice`, which has
  /// `elements` of type `dtype` (WeftDType: f32, f64, f16 or bf16); `full` has
  /// as many for each rank. `slice` may be its place in `full`.
  Status reduceScatter(const void *full, void *slice, int64_t elements,
                       int32_t dtype, double pre, double post,
                       std::string_view title);
  /// Writes the sum of `data` of all ranks to it, any number of elements. The
  /// bits are those of reduceScatter and allGather.
  Status allReduce(void *data, int64_t elements, int32_t dtype, double pre,
                   double post, std::string_view title);

  /// For tests: this rank takes no part in a collective of a program for which
  /// the function, which is asked once for each, says so.
  void skipIf(std::function<bool()> isSkipped) { skips = std::move(isSkipped); }

  /// For tests: each collective of a program takes so much longer.
  void delayBy(std::chrono::nanoseconds time) { delay = time; }

  const CollectiveCount &count(Collective kind) const {
    return counts[static_cast<int>(kind)];
  }

private:
  class Call;
  /// What a reduction computes.
  struct Sum {
    int32_t dtype;
    int64_t elementBytes;
    double pre, post;
  };

  Status gatherBlock(const char *slice, char *full, int64_t stride,
                     int64_t bytes, const Call &call);
  Status reduceBlock(const char *full, int64_t stride, void *slice,
                     int64_t elements, const Sum &sum, const Call &call);
  Status exchange(int64_t bytes, const Call &call);
  Status checkSum(int64_t elements, int32_t dtype, std::string_view title);
  char *staged(int peer, int64_t bytes);
  int64_t chunkElements(int64_t elementBytes) const;

  std::unique_ptr<Transport> transport;
  int64_t stagingBytes;
  std::vector<char> staging;
  std::vector<const char *> send;
  std::vector<char *> receive;
  CollectiveCount counts[4];
  int64_t calls = 0;
  std::function<bool()> skips;
  std::chrono::nanoseconds delay{0};
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H
