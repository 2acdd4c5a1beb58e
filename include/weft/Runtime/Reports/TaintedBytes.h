//===- TaintedBytes.h - Where values that are not finite lie ----*- C++ -*-===//

#ifndef WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H
#define WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H

#include <cstdint>
#include <map>

namespace weft {

/// The bytes of the arena that belong to a non-finite value.
class TaintedBytes {
public:
  /// Notes what the bytes [begin, end) hold now.
  void mark(int64_t begin, int64_t end, bool finite);
  /// Whether one of the bytes [begin, end) does.
  bool holds(int64_t begin, int64_t end) const;
  void clear() { ends.clear(); }
  bool empty() const { return ends.empty(); }

private:
  /// By begins, disjoint.
  std::map<int64_t, int64_t> ends;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_TAINTEDBYTES_H
