//===- Decoders.cpp - From tokens back to text ----------------------------===//

#include "Decoders.h"

#include "ByteLevel.h"
#include "Model.h"

namespace weft {

static std::string fuse(const TokenTexts &texts) {
  size_t size = 0;
  for (const std::string &text : texts)
    size += text.size();
  std::string all;
  all.reserve(size);
  for (const std::string &text : texts)
    all += text;
  return all;
}

static void replaceAll(std::string &text, std::string_view from,
                       std::string_view to) {
  for (size_t at = 0; !from.empty() && (at = text.find(from, at)) != text.npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

Status ByteLevelDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  std::string bytes;
  for (const std::string &text : texts) {
    const std::optional<std::string> spelt = bytesSpelt(text);
    bytes += spelt ? *spelt : text;
  }
  texts.assign(1, "");
  appendRepaired(texts[0], bytes);
  return Status::success();
}

Status ByteFallbackDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  TokenTexts out;
  std::string run;
  auto flush = [&] {
    if (wellFormedPrefix(run) == run.size()) {
      if (!run.empty())
        out.push_back(run);
    } else {
      out.insert(out.end(), run.size(), std::string(kReplacement));
    }
    run.clear();
  };
  for (std::string &text : texts) {
    if (const int byte = byteOfToken(text); byte >= 0) {
      run += char(byte);
      continue;
    }
    flush();
    out.push_back(std::move(text));
  }
  flush();
  texts = std::move(out);
  return Status::success();
}

Status FuseDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  texts = {fuse(texts)};
  return Status::success();
}

Status StripDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  const size_t step = content.size();
  for (std::string &text : texts) {
    size_t begin = 0, end = text.size();
    for (int64_t i = 0;
         i < start && std::string_view(text).substr(begin, step) == content;
         ++i)
      begin += step;
    for (int64_t i = 0;
         i < stop && end >= begin + step &&
         std::string_view(text).substr(end - step, step) == content;
         ++i)
      end -= step;
    text = text.substr(begin, end - begin);
  }
  return Status::success();
}

Status ReplaceDecoder::apply(TokenTexts &texts, RegexMatch &match) const {
  for (std::string &text : texts)
    if (Status status = replaceMatches(pattern, content, match, text); !status)
      return status;
  return Status::success();
}

Status MetaspaceDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  for (size_t i = 0; i < texts.size(); ++i)
    replaceAll(texts[i], mark, i == 0 && dropsFirst ? "" : " ");
  return Status::success();
}

/// As the package tokenizers cleans up English text.
static void cleanUp(std::string &text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &[from, to] : kRules)
    replaceAll(text, from, to);
}

Status WordPieceDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string &text = texts[i];
    if (i > 0) {
      if (std::string_view(text).substr(0, prefix.size()) == prefix)
        text.erase(0, prefix.size());
      else
        text.insert(0, " ");
    }
    if (cleansUp)
      cleanUp(text);
  }
  return Status::success();
}

Status WordSuffixDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  for (size_t i = 0; i < texts.size(); ++i)
    replaceAll(texts[i], suffix, i + 1 == texts.size() ? "" : " ");
  return Status::success();
}

Status SpacingDecoder::apply(TokenTexts &texts, RegexMatch &) const {
  for (size_t i = 1; i < texts.size(); ++i)
    texts[i].insert(0, " ");
  return Status::success();
}

} // namespace weft
