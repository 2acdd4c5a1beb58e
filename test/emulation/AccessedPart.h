//===- AccessedPart.h - Threads of a block on one place ---------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_ACCESSEDPART_H
#define WEFT_TEST_EMULATION_ACCESSEDPART_H

#include "Block.h"

namespace weft::emulation {

/// The threads that have used a part of memory, and after how many barriers of
/// the block and of the warp.
class AccessedPart {
public:
  /// Another thread that nothing orders before an access now, if there is one.
  const uint16_t *findRace(const Moment &now, bool isStore) const {
    if (const uint16_t *other = racingWriter(now))
      return other;
    return isStore ? racingReader(now) : nullptr;
  }
  bool isWritten(const Moment &now) const {
    return writeEpoch >= now.firstEpoch;
  }
  void addWriter(const Moment &now) {
    writeEpoch = now.blockEpoch;
    writeWarpEpoch = now.warpEpoch;
    writer = uint16_t(now.thread);
  }
  void addReader(const Moment &now) {
    bool isNew = readEpoch != now.blockEpoch;
    bool sameWarp = !isNew && reader / kWarp == now.warp;
    bool sameEpoch = sameWarp && readWarpEpoch == now.warpEpoch;
    hasMoreReaders = sameEpoch && (hasMoreReaders || reader != now.thread);
    hasOtherWarps = !isNew && (hasOtherWarps || !sameWarp);
    readEpoch = now.blockEpoch;
    readWarpEpoch = now.warpEpoch;
    reader = uint16_t(now.thread);
  }

private:
  bool isOrdered(uint32_t thread, uint32_t warpEpoch, const Moment &now) const {
    return thread == now.thread ||
           (thread / kWarp == now.warp && warpEpoch != now.warpEpoch);
  }
  const uint16_t *racingWriter(const Moment &now) const {
    bool races =
        writeEpoch == now.blockEpoch && !isOrdered(writer, writeWarpEpoch, now);
    return races ? &writer : nullptr;
  }
  const uint16_t *racingReader(const Moment &now) const {
    if (readEpoch != now.blockEpoch)
      return nullptr;
    bool sameEpoch =
        reader / kWarp == now.warp && readWarpEpoch == now.warpEpoch;
    bool races = hasOtherWarps || !isOrdered(reader, readWarpEpoch, now) ||
                 (sameEpoch && hasMoreReaders);
    return races ? &reader : nullptr;
  }

  uint32_t writeEpoch = 0, writeWarpEpoch = 0;
  uint32_t readEpoch = 0, readWarpEpoch = 0;
  uint16_t writer = 0, reader = 0;
  bool hasMoreReaders = false; // of the reader's warp, in its epoch
  bool hasOtherWarps = false;  // some reader is not of the reader's warp
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_ACCESSEDPART_H
