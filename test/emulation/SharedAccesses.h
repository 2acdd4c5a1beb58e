//===- SharedAccesses.h - Who has used shared memory ------------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_SHAREDACCESSES_H
#define WEFT_TEST_EMULATION_SHAREDACCESSES_H

#include "Block.h"

#include <array>
#include <vector>

namespace weft::emulation {

/// Who has used a part of shared memory, and after how many meetings of the
/// block and of the warp.
class SharedPart {
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

/// All of a block's shared memory of one kind: known by words of 4 bytes, and
/// by bytes where an access takes less than a word.
class SharedAccesses {
public:
  /// For memory of at least so many bytes.
  void reserve(size_t bytes) {
    size_t count = (bytes + kWord - 1) / kWord;
    if (words.size() >= count)
      return;
    words.resize(count);
    isSplit.resize(count);
    parts.resize(count);
  }
  /// Words are whole again: what blocks of other launches did is no matter.
  void beginLaunch() { std::fill(isSplit.begin(), isSplit.end(), 0); }

  /// Calls `touch` with the state of each part of an access, and its offset.
  template <typename Touch>
  void visit(size_t offset, size_t bytes, const Touch &touch) {
    for (size_t end = offset + bytes; offset < end;) {
      size_t word = offset / kWord;
      bool isWhole = offset % kWord == 0 && end - offset >= kWord;
      if (isWhole && !isSplit[word]) {
        touch(words[word], offset);
        offset += kWord;
        continue;
      }
      if (!isSplit[word])
        split(word);
      touch(parts[word][offset % kWord], offset);
      ++offset;
    }
  }

private:
  static constexpr size_t kWord = 4;

  void split(size_t word) {
    isSplit[word] = true;
    parts[word].fill(words[word]);
  }

  std::vector<SharedPart> words;
  std::vector<char> isSplit;
  std::vector<std::array<SharedPart, kWord>> parts;
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_SHAREDACCESSES_H
