//===- BufferBytes.h - Bytes that buffers share -----------------*- C++ -*-===//

#ifndef WEFT_PLAN_BUFFERBYTES_H
#define WEFT_PLAN_BUFFERBYTES_H

#include "weft/Layout/ElementSet.h"
#include "weft/Plan/Plan.h"

namespace weft::plan {

/// The bytes of a buffer. Views of one root share the bytes of common elements,
/// and roots with offsets the bytes of the arena. Two roots without offsets
/// share none.
class BufferBytes {
public:
  explicit BufferBytes(mlir::Value buffer);

  /// A root with an offset and one without count as overlapping.
  bool overlaps(const BufferBytes &other) const;

private:
  mlir::Value root;
  Layout layout;
  /// Of the root; nothing before memory planning.
  std::optional<ByteRange> bytes;
};

} // namespace weft::plan

#endif // WEFT_PLAN_BUFFERBYTES_H
