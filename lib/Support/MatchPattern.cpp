//===- MatchPattern.cpp - Regular expressions of bounded cost -------------===//

#include "weft/Support/MatchPattern.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

#include <algorithm>

namespace weft {

static constexpr size_t kMostCharacters = 1000;
static constexpr int64_t kMostStates = 5000;

namespace {
/// Adds up the states of an expression in one pass over its text.
class StateCount {
public:
  explicit StateCount(llvm::StringRef rest) : rest(rest) {}

  std::optional<std::string> findProblem();

private:
  /// An atom that a repetition behind it may copy.
  void addAtom(int64_t states) {
    last = states;
    groups.back() = std::min(groups.back() + states, kMostStates + 1);
  }
  bool addEscape();
  void addBracket();
  void closeGroup();
  void repeat();

  llvm::StringRef rest;
  llvm::SmallVector<int64_t> groups = {0}; // states so far, outermost first
  int64_t last = 0;                        // states of the last atom
};
} // namespace

/// False for a reference to an earlier group: matching it can take time that is
/// exponential in the length of the name.
bool StateCount::addEscape() {
  if (rest.size() > 1 && llvm::isDigit(rest[1]))
    return false;
  rest = rest.drop_front(std::min<size_t>(2, rest.size()));
  addAtom(1);
  return true;
}

/// `[...]`: a bracket right behind the start stands for itself, and `[:`, `[.`,
/// `[=` have an end of their own.
void StateCount::addBracket() {
  rest = rest.drop_front(rest.starts_with("[^") ? 2 : 1);
  size_t i = rest.starts_with("]") ? 1 : 0;
  while (i < rest.size() && rest[i] != ']') {
    char kind = i + 1 < rest.size() && rest[i] == '[' ? rest[i + 1] : ' ';
    if (kind != ':' && kind != '.' && kind != '=') {
      ++i;
      continue;
    }
    size_t end = rest.find(std::string{kind, ']'}, i + 2);
    i = end == llvm::StringRef::npos ? rest.size() : end + 2;
  }
  rest = rest.drop_front(std::min(i + 1, rest.size()));
  addAtom(1);
}

void StateCount::closeGroup() {
  rest = rest.drop_front();
  if (groups.size() == 1)
    return; // not balanced: for the engine to say
  int64_t states = groups.pop_back_val() + 2;
  addAtom(states);
}

/// `{m}`, `{m,}`, `{m,n}` make copies of the last atom; else a brace is text.
void StateCount::repeat() {
  rest = rest.drop_front();
  if (rest.empty() || !llvm::isDigit(rest[0]))
    return addAtom(1);
  int64_t low = 0, high = 0;
  if (rest.consumeInteger(10, low))
    low = kMostStates;
  high = low;
  if (rest.consume_front(",")) {
    high = low + 1;
    if (!rest.empty() && llvm::isDigit(rest[0]) &&
        rest.consumeInteger(10, high))
      high = kMostStates;
  }
  rest.consume_front("}");
  int64_t copies = std::clamp<int64_t>(std::max(low, high), 1, kMostStates);
  int64_t one = last;
  addAtom(one * (copies - 1)); // both factors are at most kMostStates + 3
  last = one * copies;
}

std::optional<std::string> StateCount::findProblem() {
  while (!rest.empty() && groups.back() <= kMostStates) {
    char c = rest[0];
    if (c == '\\') {
      if (!addEscape())
        return "a reference to an earlier group is not supported";
    } else if (c == '[') {
      addBracket();
    } else if (c == '(') {
      groups.push_back(0);
      rest = rest.drop_front();
    } else if (c == ')') {
      closeGroup();
    } else if (c == '{') {
      repeat();
    } else {
      rest = rest.drop_front();
      addAtom(1);
    }
  }
  if (groups.back() <= kMostStates)
    return std::nullopt;
  return "with its repetitions written out it has more than " +
         std::to_string(kMostStates) + " states";
}

std::optional<std::string> findPatternProblem(llvm::StringRef text) {
  if (text.size() > kMostCharacters)
    return "it has more than " + std::to_string(kMostCharacters) +
           " characters";
  if (std::optional<std::string> problem = StateCount(text).findProblem())
    return problem;
  std::string problem;
  if (!llvm::Regex(text).isValid(problem))
    return problem;
  return std::nullopt;
}

} // namespace weft
