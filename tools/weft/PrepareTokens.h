//===- PrepareTokens.h - Text files become a file of tokens -----*- C++ -*-===//
//
// Documents follow one another in the order of their files. Each ends with the
// end-of-text token. Groups with weights are interleaved by document: the next
// one comes from the group that has the fewest tokens for its weight, the first
// of several. The file ends when that group has no more documents, so no
// document occurs twice.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PREPARETOKENS_H
#define WEFT_TOOLS_WEFT_PREPARETOKENS_H

#include "Documents.h"

#include "weft/Tokenizer/Tokenizer.h"

namespace weft {

/// A tokenizer and the token that ends a document.
struct TextTokenizer {
  std::string path; // as Tokenizer::load() takes it
  Tokenizer tokenizer;
  std::optional<int32_t> endOfText; // none: documents are not separated
  bool findsSpecialTokens = true;

  /// `end` is the text of the token, "none", or "" for the one that the files
  /// of the tokenizer name: the end token of its settings, else `eos_token_id`
  /// of config.json beside it. If there is none, it is an error with the hint
  /// `noEndHint`, unless that is null.
  static Expected<TextTokenizer> load(const std::string &path,
                                      const std::string &end,
                                      const std::string *noEndHint = nullptr);
  /// The tokenizer of bytes; `end` is a byte, or "none".
  static Expected<TextTokenizer> ofBytes(const std::string &end);
};

/// Writes the token file `output`, and a line about it on standard error.
Status prepareTokens(const std::vector<TextGroup> &groups,
                     const TextTokenizer &text, const std::string &output);

/// The token file of groups of text in the cache, made if it is not there.
Expected<std::string> cachedTokens(const std::vector<TextGroup> &groups,
                                   const TextTokenizer &text);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_PREPARETOKENS_H
