//===- ArenaBytes.h - Bytes of tensors, wherever they are -------*- C++ -*-===//
//
// Reads and writes ranges of a context's arena from the host: in place where it
// can be seen, else in pieces that are copied, so that a file larger than the
// memory of the host can be saved and loaded.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_ARENABYTES_H
#define WEFT_RUNTIME_DEVICES_ARENABYTES_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"

#include <functional>
#include <vector>

namespace weft {

/// Calls `use` on the bytes [offset, offset + bytes) in order, on all of them
/// at once or on pieces of whole 8 bytes. Stops at the first error.
Status
readArena(const WeftContext &context, int64_t offset, int64_t bytes,
          const std::function<Status(const char *data, int64_t bytes)> &use);

/// Calls `fill` to write the bytes [at, at + bytes) of the range to `out`, for
/// the whole range or for pieces of it in order. Stops at the first error; what
/// was filled before stays.
Status writeArena(
    const WeftContext &context, int64_t offset, int64_t bytes,
    const std::function<Status(char *out, int64_t at, int64_t bytes)> &fill);

/// A range of the arena as the host can read it: in place, or a copy.
class ArenaView {
public:
  static Expected<ArenaView> of(const WeftContext &context, int64_t offset,
                                int64_t bytes);
  const char *data() const { return place ? place : copy.data(); }

private:
  const char *place = nullptr;
  std::vector<char> copy;
};

/// The number of that type (WeftDType) at an offset.
Expected<double> loadArenaNumber(const WeftContext &context, int64_t offset,
                                 int32_t dtype);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_ARENABYTES_H
