//===- SharedAccesses.h - Accesses of threads to shared memory --*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_SHAREDACCESSES_H
#define WEFT_TEST_EMULATION_SHAREDACCESSES_H

#include "AccessedPart.h"

#include <array>
#include <vector>

namespace weft::emulation {

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

  std::vector<AccessedPart> words;
  std::vector<char> isSplit;
  std::vector<std::array<AccessedPart, kWord>> parts;
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_SHAREDACCESSES_H
