//===- Communicator.h - Collectives over a transport ------------*- C++ -*-===//
//
// One implementation for all transports. Sums are taken in rank order, so that
// results are bitwise equal with threads, with processes and on every rank.
// Tensors are sent in chunks, which bounds the staging buffer. No bits depend
// on the chunk size.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H
#define WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H

#include "weft/Runtime/Collectives/Transport.h"

#include <chrono>
#include <cstdint>
#include <functional>

namespace weft {

/// Whether sumPieces adds numbers of the WeftDType `dtype`: f32, f64, f16,
/// bf16.
bool canSum(int32_t dtype);

/// The arithmetic of reductions, independent of the transport. The bits of an
/// element depend only on its values by rank, its type and two divisors.
///
/// Divides each element by `pre` and rounds it to its type. Adds the `count`
/// pieces in their order, in f32 (f64 for f64). Divides the sum by `post` and
/// rounds it. `out` may be one of the pieces.
void sumPieces(int32_t dtype, const void *const *pieces, int count,
               int64_t elements, void *out, double pre, double post);

/// Numbers: values that a run exchanges outside its programs.
enum class Collective { AllGather, ReduceScatter, AllReduce, Numbers };

/// The cost of one kind of collective on this rank.
struct CollectiveCount {
  int64_t calls = 0;
  int64_t bytes = 0; // sent to other ranks
  int64_t nanoseconds = 0;
};

/// One thread at a time uses it. All ranks must make the same calls, or all
/// fail with exit 7: titles, sizes, types and divisors are compared. So is the
/// number of the collective, which detects a rank that has skipped one.
class Communicator {
public:
  static constexpr int64_t kStagingBytes = 1 << 20;

  /// About `stagingBytes` stage pieces of other ranks. All ranks must pass the
  /// same number.
  explicit Communicator(std::unique_ptr<Transport> transport,
                        int64_t stagingBytes = kStagingBytes);

  int rank() const { return transport->rank(); }
  int ranks() const { return transport->ranks(); }
  const Transport &connection() const { return *transport; }
  /// Sets the timeout of later collectives.
  void setTimeout(double seconds) { transport->setTimeout(seconds); }

  /// Concatenates the `bytes` of each rank in `full`. `slice` may be this
  /// rank's part of `full`. The call counts as a collective of `kind`.
  Status allGather(const void *slice, void *full, int64_t bytes,
                   std::string_view title,
                   Collective kind = Collective::AllGather);
  /// Writes this rank's shard of the sum (sumPieces) to `slice`, which has
  /// `elements` of type `dtype` (WeftDType: f32, f64, f16 or bf16). `full` has
  /// as many for each rank. `slice` may be this rank's part of `full`.
  Status reduceScatter(const void *full, void *slice, int64_t elements,
                       int32_t dtype, double pre, double post,
                       std::string_view title);
  /// Replaces `data` by its sum over all ranks, for any number of elements. The
  /// bits equal a reduceScatter followed by an allGather.
  Status allReduce(void *data, int64_t elements, int32_t dtype, double pre,
                   double post, std::string_view title);

  /// For tests: this rank skips each collective of a program for which the
  /// function returns true. It is called once per collective.
  void skipIf(std::function<bool()> isSkipped) { skips = std::move(isSkipped); }

  /// For tests: delays each collective of a program.
  void delayBy(std::chrono::nanoseconds time) { delay = time; }

  const CollectiveCount &count(Collective kind) const {
    return counts[static_cast<int>(kind)];
  }

private:
  class Call;
  /// The parameters of a reduction (sumPieces).
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
