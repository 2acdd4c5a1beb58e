//===- StreamDecoder.cpp - Text of ids that arrive one by one -------------===//

#include "Model.h"
#include "Unicode.h"

#include "weft/Base/Text.h"
#include "weft/Tokenizer/Tokenizer.h"

namespace weft {

/// A decoder writes up to this many U+FFFD for the front of one character.
static constexpr int kMostOpen = 3;
/// Ids after which held text is malformed, not incomplete.
static constexpr size_t kMostHeld = 16;

/// Bytes of `text` that later ids do not change.
static size_t settledLength(const std::string &text) {
  size_t length = text.size();
  for (int open = 0; open < kMostOpen; ++open) {
    if (!endsWith(std::string_view(text).substr(0, length), kReplacement))
      break;
    length -= kReplacement.size();
  }
  return length;
}

/// Tokens `<0x0A>` at the end that are the front of one character.
static size_t openByteTokens(const Tokenizer &tokenizer,
                             const std::vector<int32_t> &ids) {
  std::string bytes;
  for (size_t i = ids.size(); i-- > 0 && bytes.size() < 4;) {
    const std::optional<std::string> token = tokenizer.tokenText(ids[i]);
    const int byte = token ? byteOfToken(*token) : -1;
    if (byte < 0)
      break;
    bytes.insert(bytes.begin(), char(byte));
  }
  return incompleteSuffix(bytes);
}

Expected<std::string> StreamDecoder::decode(size_t count) const {
  return tokenizer.decode(window.data(), count, skipsSpecialTokens);
}

Expected<std::string> StreamDecoder::add(int32_t id) {
  if (skipsSpecialTokens && tokenizer.isSpecial(id))
    return std::string();
  window.push_back(id);
  const size_t open = openByteTokens(tokenizer, window);
  Expected<std::string> text = decode(window.size() - open);
  if (!text) {
    window.pop_back();
    return text;
  }
  if (text->compare(0, done.size(), done) != 0) {
    // Malformed bytes have changed text that is handed out: begin anew.
    window.assign(1, id);
    contextIds = 0;
    done.clear();
    text = decode(1);
  }
  const size_t held = window.size() - contextIds;
  const size_t settled = held > kMostHeld ? text->size() : settledLength(*text);
  if (settled <= done.size())
    return std::string();
  std::string next = text->substr(done.size(), settled - done.size());
  if (settled < text->size() || open > 0) {
    done += next;
    return next;
  }
  // The ids of this text are the context of the next.
  window.erase(window.begin(), window.begin() + int64_t(contextIds));
  contextIds = window.size();
  Expected<std::string> context = decode(window.size());
  if (!context)
    return context;
  done = std::move(*context);
  return next;
}

Expected<std::string> StreamDecoder::finish() {
  Expected<std::string> text = decode(window.size());
  if (!text)
    return text;
  const bool continues = text->compare(0, done.size(), done) == 0;
  std::string rest = continues ? text->substr(done.size()) : "";
  window.clear();
  contextIds = 0;
  done.clear();
  return rest;
}

} // namespace weft
