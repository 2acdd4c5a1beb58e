//===- PreTokenizers.cpp - Pieces of text that models encode --------------===//

#include "PreTokenizers.h"

#include "ByteLevel.h"

#include "weft/Base/Results.h"

namespace weft {

namespace {

/// Joins parts of a piece, matches and text between them, by a behaviour.
class Joiner {
public:
  Joiner(const Piece &piece, SplitBehavior behavior, PieceSink &sink)
      : piece(piece), behavior(behavior), sink(sink) {}

  Status add(size_t begin, size_t end, bool isMatch);
  /// Hands out the part that is held back.
  Status finish() { return flush(); }

private:
  Status emit(size_t begin, size_t end) {
    if (begin == end)
      return Status::success();
    return sink.take(
        {piece.text.substr(begin, end - begin), piece.isAtStart && begin == 0});
  }
  Status flush() {
    if (!isHeld)
      return Status::success();
    isHeld = false;
    return emit(heldBegin, heldEnd);
  }
  Status hold(size_t begin, size_t end);
  bool joinsLast(bool isMatch) const;

  const Piece &piece;
  SplitBehavior behavior;
  PieceSink &sink;
  size_t heldBegin = 0, heldEnd = 0;
  bool isHeld = false, wasMatch = false;
};

} // namespace

Status Joiner::hold(size_t begin, size_t end) {
  Status status = flush();
  heldBegin = begin;
  heldEnd = end;
  isHeld = true;
  return status;
}

/// Whether a part belongs to the one that is held.
bool Joiner::joinsLast(bool isMatch) const {
  switch (behavior) {
  case SplitBehavior::Contiguous:
    return isMatch == wasMatch;
  case SplitBehavior::MergedWithPrevious:
    return isMatch && !wasMatch;
  case SplitBehavior::MergedWithNext:
    return !isMatch && wasMatch;
  default:
    return false;
  }
}

Status Joiner::add(size_t begin, size_t end, bool isMatch) {
  if (behavior == SplitBehavior::Isolated || behavior == SplitBehavior::Removed)
    return behavior == SplitBehavior::Removed && isMatch ? Status::success()
                                                         : emit(begin, end);
  const bool joins = isHeld && joinsLast(isMatch);
  wasMatch = isMatch;
  if (!joins)
    return hold(begin, end);
  heldEnd = end;
  return Status::success();
}

Status PatternSplit::split(const Piece &piece, RegexMatch &match,
                           PieceSink &sink) const {
  Joiner joiner(piece, behavior, sink);
  const std::string_view text = piece.text;
  size_t done = 0, begin = 0, end = 0;
  while (done < text.size()) {
    const Regex::Found found = pattern.find(text, done, match, begin, end);
    if (found == Regex::Found::TooHard)
      return inputError("expects an expression that matches in few steps, but "
                        "got one that exceeds the limit of PCRE2");
    if (found == Regex::Found::None)
      begin = end = text.size();
    if (begin > done)
      if (Status status = joiner.add(done, begin, isInverted); !status)
        return status;
    if (end > begin)
      if (Status status = joiner.add(begin, end, !isInverted); !status)
        return status;
    done = end;
  }
  return joiner.finish();
}

Status CharacterSplit::split(const Piece &piece, RegexMatch &,
                             PieceSink &sink) const {
  Joiner joiner(piece, behavior, sink);
  size_t done = 0;
  for (size_t at = 0; at < piece.text.size();) {
    const size_t begin = at;
    if (!test(decodeNext(piece.text, at)))
      continue;
    if (begin > done)
      if (Status status = joiner.add(done, begin, false); !status)
        return status;
    if (Status status = joiner.add(begin, at, true); !status)
      return status;
    done = at;
  }
  if (done < piece.text.size())
    if (Status status = joiner.add(done, piece.text.size(), false); !status)
      return status;
  return joiner.finish();
}

namespace {
/// Spells the bytes of each piece.
class SpellingSink : public PieceSink {
public:
  explicit SpellingSink(PieceSink &sink) : sink(sink) {}
  Status take(const Piece &piece) override {
    const std::string spelt = spellBytes(piece.text);
    return sink.take({spelt, piece.isAtStart});
  }

private:
  PieceSink &sink;
};
} // namespace

/// The expression of GPT-2.
static constexpr std::string_view kGpt2Words =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+";

Expected<std::shared_ptr<ByteLevelSplit>> ByteLevelSplit::create(Rules rules) {
  std::shared_ptr<ByteLevelSplit> made(new ByteLevelSplit(rules));
  if (rules.splits) {
    static const Expected<Regex> regex = Regex::compile(kGpt2Words);
    if (!regex)
      return Error(regex.error());
    made->words = std::make_shared<PatternSplit>(
        Pattern{"", *regex}, SplitBehavior::Isolated, /*isInverted=*/false);
  }
  return made;
}

Status ByteLevelSplit::split(const Piece &piece, RegexMatch &match,
                             PieceSink &sink) const {
  SpellingSink spelling(sink);
  PieceSink &next = rules.spells ? spelling : sink;
  std::string spaced;
  Piece whole = piece;
  if (rules.addsSpace && piece.text[0] != ' ') {
    spaced = " ";
    spaced += piece.text;
    whole.text = spaced;
  }
  return words ? words->split(whole, match, next) : next.take(whole);
}

Status MetaspaceSplit::split(const Piece &piece, RegexMatch &match,
                             PieceSink &sink) const {
  std::string text;
  text.reserve(piece.text.size() + piece.text.size() / 2 + mark.size());
  const bool isMarked =
      piece.text[0] == ' ' || piece.text.substr(0, mark.size()) == mark;
  if (!isMarked && (prepend == Prepend::Always ||
                    (prepend == Prepend::First && piece.isAtStart)))
    text = mark;
  for (char c : piece.text) {
    if (c == ' ')
      text += mark;
    else
      text += c;
  }
  const Piece whole{text, piece.isAtStart};
  if (!splits)
    return sink.take(whole);
  return PatternSplit({mark, std::nullopt}, SplitBehavior::MergedWithNext,
                      /*isInverted=*/false)
      .split(whole, match, sink);
}

Status WhitespaceWords::split(const Piece &piece, RegexMatch &,
                              PieceSink &sink) const {
  enum { Space, Word, Other };
  auto kindOf = [](char32_t c) {
    return isSpace(c) ? Space : isWordCharacter(c) ? Word : Other;
  };
  for (size_t at = 0; at < piece.text.size();) {
    const size_t begin = at;
    const auto kind = kindOf(decodeNext(piece.text, at));
    for (size_t next = at; at < piece.text.size(); at = next)
      if (kindOf(decodeNext(piece.text, next)) != kind)
        break;
    if (kind == Space)
      continue;
    if (Status status = sink.take({piece.text.substr(begin, at - begin),
                                   piece.isAtStart && begin == 0});
        !status)
      return status;
  }
  return Status::success();
}

namespace {
/// Hands pieces to the rest of a list.
class NextStep : public PieceSink {
public:
  NextStep(const PreTokenizerList &steps, size_t index, RegexMatch &match,
           PieceSink &last)
      : steps(steps), index(index), match(match), last(last) {}
  Status take(const Piece &piece) override {
    if (index == steps.size())
      return last.take(piece);
    NextStep next(steps, index + 1, match, last);
    return steps[index]->split(piece, match, next);
  }

private:
  const PreTokenizerList &steps;
  size_t index;
  RegexMatch &match;
  PieceSink &last;
};
} // namespace

Status addByteLevelSplits(const char *words, bool addsSpace,
                          PreTokenizerList &list) {
  if (*words) {
    Expected<Regex> regex = Regex::compile(words);
    if (!regex)
      return regex.takeError();
    list.push_back(std::make_shared<PatternSplit>(
        Pattern{"", std::move(*regex)}, SplitBehavior::Isolated,
        /*isInverted=*/false));
  }
  auto bytes = ByteLevelSplit::create({addsSpace, !*words, /*spells=*/false});
  if (!bytes)
    return bytes.takeError();
  list.push_back(std::move(*bytes));
  return Status::success();
}

Status splitThrough(const PreTokenizerList &steps, const Piece &piece,
                    RegexMatch &match, PieceSink &sink) {
  if (piece.text.empty())
    return Status::success();
  return NextStep(steps, 0, match, sink).take(piece);
}

} // namespace weft
