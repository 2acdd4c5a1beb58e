//===- Vocabulary.h - Tokens and their numbers ------------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_VOCABULARY_H
#define WEFT_LIB_TOKENIZER_VOCABULARY_H

#include "weft/Base/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Texts by id and ids by text.
class Vocabulary {
public:
  /// No token has this id.
  static constexpr int32_t kNone = -1;
  static constexpr int64_t kMostTokens = int64_t(1) << 24;

  /// The id of a token, or kNone.
  int32_t find(std::string_view text) const;
  bool has(int64_t id) const {
    return id >= 0 && id < size() && entries[size_t(id)].isPresent;
  }
  /// Only for ids that it has.
  std::string_view text(int32_t id) const {
    const Entry &entry = entries[size_t(id)];
    return std::string_view(bytes).substr(entry.begin, entry.length);
  }
  /// One more than the largest id.
  int64_t size() const { return int64_t(entries.size()); }
  /// The number of tokens.
  int64_t count() const { return present; }

  /// Adds a token; an error if the text or the id is taken.
  Status add(std::string_view text, int64_t id);
  /// Ids run from 0 without a hole.
  Status checkHoles() const;

private:
  struct Entry {
    uint64_t begin = 0;
    uint32_t length = 0;
    bool isPresent = false;
  };
  void grow();

  std::string bytes;
  std::vector<Entry> entries;
  std::vector<int32_t> slots; // a hash table of ids, linear probing
  int64_t present = 0;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_VOCABULARY_H
