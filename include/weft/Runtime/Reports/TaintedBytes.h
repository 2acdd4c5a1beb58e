//===- TaintedBytes.h - Bytes of non-finite values --------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H
#define WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H

#include <cstdint>
#include <limits>
#include <map>

namespace weft {

/// The origin of a non-finite value, a number that the user assigns. Of two
/// origins the smaller one wins.
using Origin = int64_t;
/// The origin of finite values.
inline constexpr Origin kFinite = std::numeric_limits<Origin>::max();

/// The bytes of the arena that belong to a non-finite value.
class TaintedBytes {
public:
  /// Sets the origin of the bytes [begin, end); kFinite clears it.
  void mark(int64_t begin, int64_t end, Origin origin);
  /// The smallest origin of the bytes [begin, end).
  Origin find(int64_t begin, int64_t end) const;
  /// Whether one of the bytes [begin, end) belongs to a non-finite value.
  bool holds(int64_t begin, int64_t end) const {
    return find(begin, end) != kFinite;
  }
  void clear() { ranges.clear(); }
  bool empty() const { return ranges.empty(); }

private:
  struct Range {
    int64_t end;
    Origin origin;
  };
  /// Disjoint ranges by their first byte.
  std::map<int64_t, Range> ranges;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H
