//===- Communicator.h - Collectives over a transport ------------*- C++ -*-===//
//
// Written once above every transport. Sums are taken in the order of ranks,
// whatever moves the bytes: results have the same bits with threads and with
// processes, and on every rank.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H
#define WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H

#include "weft/Runtime/Collectives/Transport.h"

namespace weft {

/// A factor `pre` of the number of ranks near its root (FairScale's rule).
/// Divided by it first and by what is left after the sum, neither large nor
/// small f16 gradients leave the range of the type.
double choosePreDivide(int64_t ranks);

/// One thread at a time uses it. All ranks call alike, or all fail with exit 7.
class Communicator {
public:
  explicit Communicator(std::unique_ptr<Transport> transport)
      : transport(std::move(transport)) {}

  int rank() const { return transport->rank(); }
  int ranks() const { return transport->ranks(); }

  /// Writes the `bytes` of each rank to `full`, one after the other.
  Status allGather(const void *slice, void *full, int64_t bytes,
                   std::string_view title);
  /// The same of a few bytes.
  Status gather(const void *own, void *all, int64_t bytes,
                std::string_view title) {
    return allGather(own, all, bytes, title);
  }
  /// Writes the slice of this rank of the mean to `slice`, which has `elements`
  /// of type `dtype` (WeftDType: f32, f64, f16 or bf16); `full` has as many for
  /// each rank. An element is divided by `pre` and rounded to its type; those
  /// of ranks 0, 1, ... are added up in f32 (f64 for f64); the sum is divided
  /// by `post` and rounded.
  Status reduceScatter(const void *full, void *slice, int64_t elements,
                       int32_t dtype, double pre, double post,
                       std::string_view title);

private:
  template <typename Element, typename Sum>
  Status reduceParts(const void *full, void *slice, int64_t elements,
                     double pre, double post, std::string_view title);

  std::unique_ptr<Transport> transport;
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_COMMUNICATOR_H
