//===- UnigramModel.h - The most likely tokens ------------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_UNIGRAMMODEL_H
#define WEFT_LIB_TOKENIZER_UNIGRAMMODEL_H

#include "Model.h"

#include <memory>

namespace weft {

/// The tokens of a vocabulary that a text begins with.
class TokenTrie {
public:
  /// `ids` are tokens of `vocabulary`; an empty token is none.
  TokenTrie(const Vocabulary &vocabulary, std::vector<int32_t> ids);

  /// Calls `visit(length, id)` for each token at the front, short ones first.
  template <typename Visit>
  void forPrefixes(std::string_view text, const Visit &visit) const {
    int32_t node = 0;
    for (size_t length = 1; length <= text.size(); ++length) {
      node = child(node, static_cast<unsigned char>(text[length - 1]));
      if (node < 0)
        return;
      if (nodes[size_t(node)].id != Vocabulary::kNone)
        visit(length, nodes[size_t(node)].id);
    }
  }

private:
  struct Node {
    int32_t first = 0; // of its children, which lie together by label
    int32_t count = 0;
    int32_t id = Vocabulary::kNone;
    unsigned char label = 0;
  };
  int32_t child(int32_t node, unsigned char label) const;

  std::vector<Node> nodes;
};

struct UnigramOptions {
  int32_t unknown = Vocabulary::kNone;
  bool hasByteFallback = false;
  /// The tokens that text may become; all of them if empty.
  std::vector<bool> isCandidate;
  /// Scores as single-precision numbers, as libsentencepiece adds them.
  bool addsSingles = false;
};

class UnigramModel : public Model {
public:
  UnigramModel(std::shared_ptr<const Vocabulary> vocabulary,
               std::vector<double> scores, UnigramOptions options);

  Status encode(std::string_view piece, Scratch &scratch,
                std::vector<int32_t> &ids) const override;

private:
  Status findPath(std::string_view piece, std::vector<PathNode> &path) const;
  void addUnknown(std::string_view text, std::vector<int32_t> &ids) const;

  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<double> scores;
  UnigramOptions options;
  TokenTrie trie;
  double unknownScore = 0;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_UNIGRAMMODEL_H
