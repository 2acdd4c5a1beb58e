//===- AddedTokens.cpp - Tokens found before a model sees text ------------===//

#include "AddedTokens.h"

#include "Unicode.h"

#include <algorithm>
#include <cstring>

namespace weft {

int32_t TokenFinder::child(int32_t node, unsigned char label) const {
  const auto &children = nodes[size_t(node)].children;
  auto at = std::lower_bound(children.begin(), children.end(), label,
                             [](const auto &entry, unsigned char wanted) {
                               return entry.first < wanted;
                             });
  return at != children.end() && at->first == label ? at->second : -1;
}

void TokenFinder::add(std::string_view text, const AddedToken &token) {
  if (text.empty())
    return;
  int32_t node = 0;
  for (unsigned char label : text) {
    int32_t next = child(node, label);
    if (next < 0) {
      next = int32_t(nodes.size());
      nodes.emplace_back();
      auto &children = nodes[size_t(node)].children;
      children.emplace_back(label, next);
      std::sort(children.begin(), children.end());
    }
    node = next;
  }
  if (nodes[size_t(node)].token >= 0)
    return;
  nodes[size_t(node)].token = int32_t(tokens.size());
  tokens.push_back(token);
  const unsigned char first = static_cast<unsigned char>(text[0]);
  if (!canStart[first])
    starts += text[0];
  canStart[first] = true;
}

const AddedToken *TokenFinder::longestAt(std::string_view text, size_t at,
                                         size_t &end) const {
  const AddedToken *found = nullptr;
  for (int32_t node = 0; at < text.size();) {
    node = child(node, static_cast<unsigned char>(text[at++]));
    if (node < 0)
      break;
    if (nodes[size_t(node)].token >= 0) {
      found = &tokens[size_t(nodes[size_t(node)].token)];
      end = at;
    }
  }
  return found;
}

size_t TokenFinder::nextStart(std::string_view text, size_t at) const {
  if (starts.size() == 1)
    return std::min(text.find(starts[0], at), text.size());
  while (at < text.size() && !canStart[static_cast<unsigned char>(text[at])])
    ++at;
  return at;
}

static bool isWholeWord(std::string_view text, size_t begin, size_t end) {
  if (begin > 0) {
    size_t at = previousStart(text, begin);
    if (isWordCharacter(decodeNext(text, at)))
      return false;
  }
  return end == text.size() || !isWordCharacter(decodeNext(text, end));
}

/// Where the white space before `begin` starts, not before `least`.
static size_t spaceBefore(std::string_view text, size_t begin, size_t least) {
  while (begin > least) {
    const size_t start = previousStart(text, begin);
    size_t at = start;
    if (!isSpace(decodeNext(text, at)))
      break;
    begin = start;
  }
  return begin;
}

static size_t spaceBehind(std::string_view text, size_t end) {
  for (size_t at = end; at < text.size(); end = at)
    if (!isSpace(decodeNext(text, at)))
      break;
  return end;
}

std::vector<TextPart> TokenFinder::split(std::string_view text,
                                         bool findsSpecial) const {
  std::vector<TextPart> parts;
  size_t done = 0;
  for (size_t at = 0; !isEmpty() && at < text.size();) {
    at = nextStart(text, at);
    size_t begin = at, end = 0;
    const AddedToken *token = longestAt(text, at, end);
    // White space that a token took is no other token.
    if (!token || at < done) {
      ++at;
      continue;
    }
    // A match that does not count still takes its text out of the search.
    at = end;
    if ((token->isSpecial && !findsSpecial) ||
        (token->isSingleWord && !isWholeWord(text, begin, end)))
      continue;
    if (token->stripsLeft)
      begin = spaceBefore(text, begin, done);
    if (token->stripsRight)
      end = spaceBehind(text, end);
    if (begin > done)
      parts.push_back({done, begin, -1});
    parts.push_back({begin, end, token->id});
    done = end;
  }
  if (done < text.size())
    parts.push_back({done, text.size(), -1});
  return parts;
}

} // namespace weft
