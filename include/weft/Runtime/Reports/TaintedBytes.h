//===- TaintedBytes.h - Where values that are not finite lie ----*- C++ -*-===//

#ifndef WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H
#define WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H

#include <cstdint>
#include <limits>
#include <map>

namespace weft {

/// Where a non-finite value comes from, as a number of the user. Of two, the
/// smaller one counts.
using Origin = int64_t;
/// That of finite values.
inline constexpr Origin kFinite = std::numeric_limits<Origin>::max();

/// The bytes of the arena that belong to a non-finite value.
class TaintedBytes {
public:
  /// Notes what the bytes [begin, end) hold now.
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
  /// By begins, disjoint.
  std::map<int64_t, Range> ranges;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H
