//===- Normalizers.cpp - Changes of text before it is split ---------------===//

#include "Normalizers.h"

#include "ByteLevel.h"

#include "weft/Base/Results.h"

namespace weft {

/// Keeps the characters for which `keep` holds.
template <typename Keep>
static void filter(NormalizedText &text, const Keep &keep) {
  std::string out;
  out.reserve(text.text.size());
  for (size_t at = 0; at < text.text.size();) {
    const size_t begin = at;
    if (keep(decodeNext(text.text, at)))
      out.append(text.text, begin, at - begin);
    else if (begin == 0)
      text.isAtStart = false;
  }
  text.text = std::move(out);
}

/// Replaces each character by the text that `map` appends.
template <typename Map> static void mapEach(std::string &text, const Map &map) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();)
    map(out, decodeNext(text, at));
  text = std::move(out);
}

Regex::Found Pattern::find(std::string_view text, size_t at, RegexMatch &match,
                           size_t &begin, size_t &end) const {
  if (!regex) {
    begin = literal.empty() ? text.npos : text.find(literal, at);
    end = begin + literal.size();
    return begin == text.npos ? Regex::Found::None : Regex::Found::Match;
  }
  while (true) {
    const Regex::Found found = regex->find(text, at, match, begin, end);
    if (found != Regex::Found::Match || end > begin)
      return found;
    if (begin >= text.size())
      return Regex::Found::None;
    at = begin + sequenceLength(text[begin]);
  }
}

Status replaceMatches(const Pattern &pattern, std::string_view content,
                      RegexMatch &match, std::string &text) {
  std::string out;
  size_t done = 0, begin = 0, end = 0;
  while (true) {
    const Regex::Found found = pattern.find(text, done, match, begin, end);
    if (found == Regex::Found::TooHard)
      return inputError("expects an expression that matches in few steps, but "
                        "got one that exceeds the limit of PCRE2");
    if (found == Regex::Found::None)
      break;
    if (out.empty())
      out.reserve(text.size() + 16);
    out.append(text, done, begin - done);
    out += content;
    done = end;
  }
  if (done == 0)
    return Status::success();
  out.append(text, done);
  text = std::move(out);
  return Status::success();
}

Status FormNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  if (!isAscii(text.text))
    text.text = normalForm(text.text, form);
  return Status::success();
}

Status LowercaseNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  mapEach(text.text, appendLower);
  return Status::success();
}

Status StripNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  std::string_view all = text.text;
  size_t begin = 0, end = all.size();
  for (size_t at = 0; left && at < end && isSpace(decodeNext(all, at));)
    begin = at;
  for (size_t at = end; right && at > begin;) {
    size_t start = at = previousStart(all, at);
    if (!isSpace(decodeNext(all, start)))
      break;
    end = at;
  }
  if (begin > 0)
    text.isAtStart = false;
  text.text = text.text.substr(begin, end - begin);
  return Status::success();
}

Status StripAccentsNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  filter(text, [](char32_t c) { return !isMark(c); });
  return Status::success();
}

Status NmtNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  filter(text, [](char32_t c) {
    return !((c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
             c == 0x7F || c == 0x8F || c == 0x9F);
  });
  mapEach(text.text, [](std::string &out, char32_t c) {
    const bool isBlank = c == 9 || c == 10 || c == 12 || c == 13 ||
                         c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                         c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                         c == 0xFEFF || c == 0xFFFD;
    appendCodePoint(out, isBlank ? U' ' : c);
  });
  return Status::success();
}

Status ReplaceNormalizer::apply(NormalizedText &text, RegexMatch &match) const {
  return replaceMatches(pattern, content, match, text.text);
}

Status PrependNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  if (!text.text.empty())
    text.text.insert(0, content);
  return Status::success();
}

Status ByteLevelNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  text.text = spellBytes(text.text);
  return Status::success();
}

Status CharsmapNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  text.text = rule == Rule::Clusters ? map.mapClusters(text.text)
                                     : map.mapLongest(text.text);
  return Status::success();
}

Status ExtraSpaceNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  std::string out;
  out.reserve(text.text.size());
  for (char c : text.text)
    if (c != ' ' || (!out.empty() && out.back() != ' '))
      out += c;
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  text.text = std::move(out);
  return Status::success();
}

static bool isChinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

Status BertNormalizer::apply(NormalizedText &text, RegexMatch &) const {
  if (rules.cleansText) {
    filter(text, [](char32_t c) {
      return c == '\t' || c == '\n' || c == '\r' ||
             !(c == 0 || c == 0xFFFD || isOther(c));
    });
    mapEach(text.text, [](std::string &out, char32_t c) {
      appendCodePoint(out, isSpace(c) ? U' ' : c);
    });
  }
  if (rules.spacesChinese)
    mapEach(text.text, [](std::string &out, char32_t c) {
      const bool isSpaced = isChinese(c);
      out += isSpaced ? " " : "";
      appendCodePoint(out, c);
      out += isSpaced ? " " : "";
    });
  if (rules.stripsAccents) {
    if (!isAscii(text.text))
      text.text = normalForm(text.text, NormalForm::D);
    filter(text, [](char32_t c) { return !isNonspacingMark(c); });
  }
  if (rules.lowersCase)
    mapEach(text.text, appendLower);
  return Status::success();
}

} // namespace weft
