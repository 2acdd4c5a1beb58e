//===- AddedTokens.h - Tokens found before a model sees text ----*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_ADDEDTOKENS_H
#define WEFT_LIB_TOKENIZER_ADDEDTOKENS_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A token of the list `added_tokens`.
struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool isSpecial = false;
  /// Only whole words count.
  bool isSingleWord = false;
  /// White space beside it belongs to it.
  bool stripsLeft = false, stripsRight = false;
  /// It is found in normalised text, in its own normalised form.
  bool isNormalized = false;
};

/// A part of a text: a token, or text between tokens (id < 0).
struct TextPart {
  size_t begin = 0, end = 0;
  int32_t id = -1;
};

/// Finds tokens in text, the leftmost ones first and of those the longest.
class TokenFinder {
public:
  /// Finds `text` as the token at `index`; a text that is there keeps its
  /// token.
  void add(std::string_view text, const AddedToken &token);
  bool isEmpty() const { return tokens.empty(); }

  /// The parts of a text. Special tokens are text unless `findsSpecial`.
  std::vector<TextPart> split(std::string_view text, bool findsSpecial) const;

private:
  struct Node {
    std::vector<std::pair<unsigned char, int32_t>> children; // sorted
    int32_t token = -1;
  };
  int32_t child(int32_t node, unsigned char label) const;
  const AddedToken *longestAt(std::string_view text, size_t at,
                              size_t &end) const;
  size_t nextStart(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens;
  std::vector<Node> nodes = std::vector<Node>(1);
  std::array<bool, 256> canStart{};
  std::string starts;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_ADDEDTOKENS_H
