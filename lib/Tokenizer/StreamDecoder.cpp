//===- StreamDecoder.cpp - Text of ids that arrive one by one -------------===//

#include "ByteLevel.h"
#include "Parts.h"

#include "weft/Base/Text.h"

namespace weft {

/// The bytes that a token stands for, in a decoder of byte-level text.
static std::string bytesOf(std::string_view token) {
  std::optional<std::string> spelt = bytesSpelt(token);
  return spelt ? std::move(*spelt) : std::string(token);
}

/// Bytes at the end of byte-level text that are the front of one character.
static size_t openBytes(const Vocabulary &vocabulary,
                        const std::vector<int32_t> &ids) {
  std::string bytes;
  for (size_t i = ids.size(); i-- > 0 && bytes.size() < 4;)
    if (vocabulary.has(ids[i]))
      bytes.insert(0, bytesOf(vocabulary.text(ids[i])));
  return incompleteSuffix(bytes);
}

/// Tokens `<0x0A>` at the end that are the front of one character.
static size_t openByteTokens(const Vocabulary &vocabulary,
                             const std::vector<int32_t> &ids) {
  std::string bytes;
  for (size_t i = ids.size(); i-- > 0 && bytes.size() < 4;) {
    const int byte =
        vocabulary.has(ids[i]) ? byteOfToken(vocabulary.text(ids[i])) : -1;
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
  const Vocabulary &vocabulary = *tokenizer.parts->vocabulary;
  const bool isByteLevel = tokenizer.parts->decodesBytes;
  const size_t open = isByteLevel ? openBytes(vocabulary, window)
                                  : openByteTokens(vocabulary, window);
  Expected<std::string> text = decode(window.size() - (isByteLevel ? 0 : open));
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
  // Open bytes are one U+FFFD in byte-level text.
  size_t settled = text->size();
  if (isByteLevel && open > 0 && endsWith(*text, kReplacement))
    settled -= kReplacement.size();
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
