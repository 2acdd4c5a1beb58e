//===- Normalizers.h - Changes of text before it is split -------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_NORMALIZERS_H
#define WEFT_LIB_TOKENIZER_NORMALIZERS_H

#include "Charsmap.h"
#include "Regex.h"
#include "Unicode.h"

#include <memory>
#include <vector>

namespace weft {

/// Well-formed text while it is normalised.
struct NormalizedText {
  std::string text;
  /// Whether the first character comes from the front of the document.
  bool isAtStart = true;
};

class Normalizer {
public:
  virtual ~Normalizer() = default;
  virtual Status apply(NormalizedText &text, RegexMatch &match) const = 0;
};
using NormalizerList = std::vector<std::shared_ptr<const Normalizer>>;

/// A literal text or an expression.
struct Pattern {
  std::string literal;
  std::optional<Regex> regex;

  /// The next match from `at` on that is not empty and does not lie before.
  Regex::Found find(std::string_view text, size_t at, RegexMatch &match,
                    size_t &begin, size_t &end) const;
};

class FormNormalizer : public Normalizer {
public:
  explicit FormNormalizer(NormalForm form) : form(form) {}
  Status apply(NormalizedText &text, RegexMatch &) const override;

private:
  NormalForm form;
};

class LowercaseNormalizer : public Normalizer {
public:
  Status apply(NormalizedText &text, RegexMatch &) const override;
};

class StripNormalizer : public Normalizer {
public:
  StripNormalizer(bool left, bool right) : left(left), right(right) {}
  Status apply(NormalizedText &text, RegexMatch &) const override;

private:
  bool left, right;
};

class StripAccentsNormalizer : public Normalizer {
public:
  Status apply(NormalizedText &text, RegexMatch &) const override;
};

/// The rules of SentencePiece's `nmt`: control characters go, and other white
/// space becomes a space.
class NmtNormalizer : public Normalizer {
public:
  Status apply(NormalizedText &text, RegexMatch &) const override;
};

class ReplaceNormalizer : public Normalizer {
public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern(std::move(pattern)), content(std::move(content)) {}
  Status apply(NormalizedText &text, RegexMatch &match) const override;

private:
  Pattern pattern;
  std::string content;
};

class PrependNormalizer : public Normalizer {
public:
  explicit PrependNormalizer(std::string content)
      : content(std::move(content)) {}
  Status apply(NormalizedText &text, RegexMatch &) const override;

private:
  std::string content;
};

class ByteLevelNormalizer : public Normalizer {
public:
  Status apply(NormalizedText &text, RegexMatch &) const override;
};

class CharsmapNormalizer : public Normalizer {
public:
  enum class Rule { Clusters, Longest };
  CharsmapNormalizer(Charsmap map, Rule rule)
      : map(std::move(map)), rule(rule) {}
  Status apply(NormalizedText &text, RegexMatch &) const override;

private:
  Charsmap map;
  Rule rule;
};

/// Runs of spaces become one, and those at both ends go, as in
/// libsentencepiece.
class ExtraSpaceNormalizer : public Normalizer {
public:
  Status apply(NormalizedText &text, RegexMatch &) const override;
};

class BertNormalizer : public Normalizer {
public:
  struct Rules {
    bool cleansText = true, spacesChinese = true, stripsAccents = true,
         lowersCase = true;
  };
  explicit BertNormalizer(Rules rules) : rules(rules) {}
  Status apply(NormalizedText &text, RegexMatch &) const override;

private:
  Rules rules;
};

/// `text` with each match of `pattern` replaced.
Status replaceMatches(const Pattern &pattern, std::string_view content,
                      RegexMatch &match, std::string &text);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_NORMALIZERS_H
