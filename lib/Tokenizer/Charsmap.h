//===- Charsmap.h - Replacements that SentencePiece compiled ----*- C++ -*-===//
//
// Private to lib/Tokenizer. The field `precompiled_charsmap`: the number of
// bytes of a double-array trie, the trie, and the replacements, each with a
// null byte behind it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_CHARSMAP_H
#define WEFT_LIB_TOKENIZER_CHARSMAP_H

#include "weft/Base/Error.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class Charsmap {
public:
  static Expected<Charsmap> parse(std::string_view bytes);
  static Expected<Charsmap> parseBase64(std::string_view text);

  struct Match {
    size_t length = 0;
    std::string_view replacement;
  };
  /// The shortest and the longest keys that `text` begins with.
  std::optional<Match> shortest(std::string_view text) const;
  std::optional<Match> longest(std::string_view text) const;

  /// `text` as the package tokenizers maps it, cluster by cluster.
  std::string mapClusters(std::string_view text) const;
  /// `text` as libsentencepiece maps it, the longest keys first.
  std::string mapLongest(std::string_view text) const;

private:
  template <typename Visit>
  void forPrefixes(std::string_view text, const Visit &visit) const;
  std::optional<Match> matchAt(size_t length, uint32_t value) const;

  std::vector<uint32_t> units;
  std::string replacements;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_CHARSMAP_H
