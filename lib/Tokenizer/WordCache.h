//===- WordCache.h - Ids of words that came before --------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_WORDCACHE_H
#define WEFT_LIB_TOKENIZER_WORDCACHE_H

#include "Hashing.h"

#include <vector>

namespace weft {

/// Short words and their ids. A word has one place, from which it drives out
/// the word before: lookups are short, and memory is bounded.
class WordCache {
public:
  /// Appends the ids of a known word.
  bool find(std::string_view word, uint64_t hash,
            std::vector<int32_t> &ids) const {
    if (entries.empty() || word.size() > kMostBytes)
      return false;
    const Entry &entry = entries[hash & kMask];
    if (entry.hash != uint32_t(hash >> 32) || entry.length != word.size() ||
        std::memcmp(entry.text, word.data(), word.size()) != 0)
      return false;
    ids.insert(ids.end(), entry.ids, entry.ids + entry.count);
    return true;
  }
  /// Keeps the ids of a word, if it and they are short enough.
  void keep(std::string_view word, uint64_t hash, const int32_t *ids,
            size_t count) {
    if (word.size() > kMostBytes || count > kMostIds || word.empty())
      return;
    if (entries.empty())
      entries.resize(kMask + 1);
    Entry &entry = entries[hash & kMask];
    entry.hash = uint32_t(hash >> 32);
    entry.length = uint8_t(word.size());
    entry.count = uint8_t(count);
    std::memcpy(entry.text, word.data(), word.size());
    std::memcpy(entry.ids, ids, 4 * count);
  }

private:
  static constexpr size_t kMostBytes = 30, kMostIds = 7, kMask = (1 << 16) - 1;

  struct Entry { // a cache line
    uint32_t hash = 0;
    uint8_t length = 0, count = 0;
    char text[kMostBytes];
    int32_t ids[kMostIds];
  };
  static_assert(sizeof(Entry) == 64, "expects a cache line");

  std::vector<Entry> entries;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_WORDCACHE_H
