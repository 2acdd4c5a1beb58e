//===- PreTokenizers.h - Pieces of text that models encode ------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_PRETOKENIZERS_H
#define WEFT_LIB_TOKENIZER_PRETOKENIZERS_H

#include "Normalizers.h"

#include <memory>
#include <vector>

namespace weft {

/// How matches of a pattern, and the text between them, become pieces.
enum class SplitBehavior {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

/// A piece of text, and whether it begins where the document begins.
struct Piece {
  std::string_view text;
  bool isAtStart = false;
};

/// Takes the pieces, one after the other.
class PieceSink {
public:
  virtual ~PieceSink() = default;
  virtual Status take(const Piece &piece) = 0;
};

class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;
  /// Hands the pieces of `piece` that are not empty to `sink`.
  virtual Status split(const Piece &piece, RegexMatch &match,
                       PieceSink &sink) const = 0;
};
using PreTokenizerList = std::vector<std::shared_ptr<const PreTokenizer>>;

/// Splits at the matches of a pattern.
class PatternSplit : public PreTokenizer {
public:
  PatternSplit(Pattern pattern, SplitBehavior behavior, bool isInverted)
      : pattern(std::move(pattern)), behavior(behavior),
        isInverted(isInverted) {}
  Status split(const Piece &piece, RegexMatch &match,
               PieceSink &sink) const override;

private:
  Pattern pattern;
  SplitBehavior behavior;
  bool isInverted;
};

/// Splits at characters of a class.
class CharacterSplit : public PreTokenizer {
public:
  using Test = bool (*)(char32_t);
  CharacterSplit(Test test, SplitBehavior behavior)
      : test(test), behavior(behavior) {}
  Status split(const Piece &piece, RegexMatch &,
               PieceSink &sink) const override;

private:
  Test test;
  SplitBehavior behavior;
};

/// Adds a space at the front, splits as GPT-2 does and spells bytes, each if it
/// is asked for.
class ByteLevelSplit : public PreTokenizer {
public:
  struct Rules {
    bool addsSpace = true, splits = true, spells = true;
  };
  static Expected<std::shared_ptr<ByteLevelSplit>> create(Rules rules);
  Status split(const Piece &piece, RegexMatch &match,
               PieceSink &sink) const override;

private:
  explicit ByteLevelSplit(Rules rules) : rules(rules) {}

  Rules rules;
  std::shared_ptr<const PatternSplit> words;
};

/// Puts a mark in place of spaces and splits before it.
class MetaspaceSplit : public PreTokenizer {
public:
  enum class Prepend { Always, First, Never };
  MetaspaceSplit(std::string mark, Prepend prepend, bool splits)
      : mark(std::move(mark)), prepend(prepend), splits(splits) {}
  Status split(const Piece &piece, RegexMatch &match,
               PieceSink &sink) const override;

private:
  std::string mark;
  Prepend prepend;
  bool splits;
};

/// Words, and runs of other characters, without white space.
class WhitespaceWords : public PreTokenizer {
public:
  Status split(const Piece &piece, RegexMatch &,
               PieceSink &sink) const override;
};

/// Expressions of the words of Llama 3 and Qwen 2.
inline constexpr const char kLlama3Words[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
inline constexpr const char kQwen2Words[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// Appends the splits of a byte-level model: at the words of an expression, or
/// at GPT-2's if `words` is "".
Status addByteLevelSplits(const char *words, bool addsSpace,
                          PreTokenizerList &list);

/// Hands a piece through a list of splits, one after the other, to `sink`.
Status splitThrough(const PreTokenizerList &steps, const Piece &piece,
                    RegexMatch &match, PieceSink &sink);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_PRETOKENIZERS_H
