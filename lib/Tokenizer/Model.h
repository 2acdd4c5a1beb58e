//===- Model.h - The part of a tokenizer that makes ids ---------*- C++ -*-===//
//
// Private to lib/Tokenizer. A model turns one piece of text into ids. It does
// not change after it is made, so threads share it; each has a Scratch.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_MODEL_H
#define WEFT_LIB_TOKENIZER_MODEL_H

#include "Regex.h"
#include "Vocabulary.h"
#include "WordCache.h"

#include <vector>

namespace weft {

/// A symbol of a word that is being merged, in a list.
struct Symbol {
  int32_t id = 0;
  int32_t previous = 0, next = 0;
};

/// One place of the best path of a Unigram model.
struct PathNode {
  double score = 0;
  int64_t begin = -1; // of the token that ends here
  int32_t id = 0;
};

/// Memory of one encoding at a time, kept from one to the next.
struct Scratch {
  WordCache cache;
  RegexMatch match;
  std::vector<int32_t> word, merged;
  std::vector<uint32_t> ranks;
  std::vector<Symbol> symbols;
  std::vector<uint64_t> queue;
  std::vector<PathNode> path;
  /// Characters for which the model has no token, not even one for unknown
  /// text.
  int64_t unencodable = 0;
};

class Model {
public:
  virtual ~Model() = default;
  /// Appends the ids of a piece of well-formed text that is not empty.
  virtual Status encode(std::string_view piece, Scratch &scratch,
                        std::vector<int32_t> &ids) const = 0;
};

/// The token `<0x0A>` that stands for a byte.
std::string byteToken(unsigned char byte);
/// The byte that such a token stands for, or -1.
int byteOfToken(std::string_view token);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_MODEL_H
