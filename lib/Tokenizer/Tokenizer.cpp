//===- Tokenizer.cpp - Text to token numbers and back ---------------------===//

#include "Parts.h"

#include "weft/Base/Results.h"

#include <algorithm>

namespace weft {

/// Ids that gather before a sink takes them.
static constexpr size_t kBatch = size_t(1) << 16;
/// Positions in a text are 32-bit numbers.
static constexpr size_t kMostText = size_t(1) << 31;
/// Scratch memory that waits for the next encoding.
static constexpr size_t kMostIdle = 64;

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer &&) noexcept = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) noexcept = default;
Tokenizer::~Tokenizer() = default;

int64_t Tokenizer::vocabularySize() const { return parts->vocabulary->size(); }

std::optional<std::string> Tokenizer::tokenText(int32_t id) const {
  if (!parts->vocabulary->has(id))
    return std::nullopt;
  return std::string(parts->vocabulary->text(id));
}

std::optional<int32_t> Tokenizer::findToken(std::string_view text) const {
  const int32_t id = parts->vocabulary->find(text);
  return id == Vocabulary::kNone ? std::nullopt : std::optional<int32_t>(id);
}

bool Tokenizer::isSpecial(int32_t id) const {
  return id >= 0 && size_t(id) < parts->specials.size() &&
         parts->specials[size_t(id)];
}

const SpecialIds &Tokenizer::specialIds() const { return parts->specialIds; }

const TextFrame &Tokenizer::frame() const { return parts->frame; }

const std::string &Tokenizer::modelName() const { return parts->modelName; }

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

namespace {

/// Scratch memory of one encoding, taken from the idle ones and given back.
class Borrowed {
public:
  explicit Borrowed(Tokenizer::Parts &parts) : parts(parts) {
    std::lock_guard<std::mutex> guard(parts.lock);
    if (parts.idle.empty())
      return;
    scratch = std::move(parts.idle.back());
    parts.idle.pop_back();
  }
  ~Borrowed() {
    std::lock_guard<std::mutex> guard(parts.lock);
    if (scratch && parts.idle.size() < kMostIdle)
      parts.idle.push_back(std::move(scratch));
  }
  Scratch &operator*() {
    if (!scratch)
      scratch = std::make_unique<Scratch>();
    return *scratch;
  }

private:
  Tokenizer::Parts &parts;
  std::unique_ptr<Scratch> scratch;
};

/// Encodes one text.
class Encoding : public PieceSink {
public:
  Encoding(const Tokenizer::Parts &parts, Scratch &scratch,
           const EncodeOptions &options, const Tokenizer::IdSink &sink)
      : parts(parts), scratch(scratch), options(options), sink(sink) {}

  Status run(std::string_view text);
  Status take(const Piece &piece) override {
    if (Status status = parts.model->encode(piece.text, scratch, ids); !status)
      return status;
    return ids.size() < kBatch ? Status::success() : flush();
  }

private:
  Status encodeRaw(std::string_view text, bool isAtStart);
  Status encodeNormalized(const NormalizedText &text);
  Status addFrame(const std::vector<int32_t> &frame) {
    if (options.addsSpecialTokens)
      ids.insert(ids.end(), frame.begin(), frame.end());
    return Status::success();
  }
  Status flush() {
    Status status =
        ids.empty() ? Status::success() : sink(ids.data(), ids.size());
    ids.clear();
    return status;
  }

  const Tokenizer::Parts &parts;
  Scratch &scratch;
  const EncodeOptions &options;
  const Tokenizer::IdSink &sink;
  std::vector<int32_t> ids;
};

} // namespace

Status normalize(const NormalizerList &normalizers, NormalizedText &text,
                 RegexMatch &match) {
  for (const auto &normalizer : normalizers)
    if (Status status = normalizer->apply(text, match); !status)
      return status;
  return Status::success();
}

Status Encoding::encodeNormalized(const NormalizedText &text) {
  const std::string_view all = text.text;
  for (const TextPart &part :
       parts.normalizedTokens.split(all, options.findsSpecialTokens)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
      continue;
    }
    const Piece piece{all.substr(part.begin, part.end - part.begin),
                      text.isAtStart && part.begin == 0};
    if (Status status =
            splitThrough(parts.preTokenizers, piece, scratch.match, *this);
        !status)
      return status;
  }
  return Status::success();
}

Status Encoding::encodeRaw(std::string_view text, bool isAtStart) {
  if (parts.whole)
    return parts.whole->encode(text, ids);
  NormalizedText normalized;
  normalized.isAtStart = isAtStart;
  normalized.text = text;
  if (Status status = normalize(parts.normalizers, normalized, scratch.match);
      !status)
    return status;
  return encodeNormalized(normalized);
}

Status Encoding::run(std::string_view text) {
  (void)addFrame(parts.frame.before);
  for (const TextPart &part :
       parts.rawTokens.split(text, options.findsSpecialTokens)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
      continue;
    }
    if (Status status = encodeRaw(
            text.substr(part.begin, part.end - part.begin), part.begin == 0);
        !status)
      return status;
  }
  (void)addFrame(parts.frame.behind);
  return flush();
}

Status Tokenizer::encode(std::string_view text, const EncodeOptions &options,
                         const IdSink &sink, EncodeLosses *losses) const {
  if (text.size() >= kMostText)
    return inputError("expects text of less than ", kMostText,
                      " bytes, but got ", text.size())
        .hint("split the text into documents");
  std::string repaired;
  int64_t malformed = 0;
  if (!parts->takesAnyBytes && wellFormedPrefix(text) != text.size()) {
    malformed = appendRepaired(repaired, text);
    text = repaired;
  }
  Borrowed scratch(*parts);
  (*scratch).unencodable = 0;
  Status status = Encoding(*parts, *scratch, options, sink).run(text);
  if (losses) {
    losses->malformed += malformed;
    losses->unencodable += (*scratch).unencodable;
  }
  return status;
}

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view text,
                                                 const EncodeOptions &options,
                                                 EncodeLosses *losses) const {
  std::vector<int32_t> all;
  Status status = encode(
      text, options,
      [&](const int32_t *ids, size_t count) {
        all.insert(all.end(), ids, ids + count);
        return Status::success();
      },
      losses);
  if (!status)
    return status.takeError();
  return all;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

Expected<std::string> Tokenizer::decode(const int32_t *ids, size_t count,
                                        bool skipsSpecialTokens) const {
  std::vector<int32_t> kept;
  for (size_t i = 0; i < count; ++i) {
    if (!parts->vocabulary->has(ids[i]))
      return inputError("expects token numbers from 0 to ",
                        vocabularySize() - 1, ", but got ", ids[i],
                        " at position ", i);
    if (!skipsSpecialTokens || !isSpecial(ids[i]))
      kept.push_back(ids[i]);
  }
  if (parts->whole)
    return parts->whole->decode(kept);
  TokenTexts texts;
  texts.reserve(kept.size());
  for (int32_t id : kept) {
    std::string_view text = parts->vocabulary->text(id);
    auto other = std::lower_bound(
        parts->decodedTexts.begin(), parts->decodedTexts.end(), id,
        [](const auto &entry, int32_t wanted) { return entry.first < wanted; });
    if (other != parts->decodedTexts.end() && other->first == id)
      text = other->second;
    texts.emplace_back(text);
  }
  RegexMatch match;
  for (const auto &decoder : parts->decoders)
    if (Status status = decoder->apply(texts, match); !status)
      return status.takeError();
  std::string all;
  for (const std::string &text : texts)
    all += text;
  return all;
}

Status addTokens(Tokenizer::Parts &parts,
                 const std::vector<AddedToken> &tokens) {
  RegexMatch match;
  for (const AddedToken &token : tokens) {
    if (token.id >= 0 && size_t(token.id) >= parts.specials.size())
      parts.specials.resize(size_t(token.id) + 1);
    if (token.isSpecial)
      parts.specials[size_t(token.id)] = true;
    if (!token.isNormalized) {
      parts.rawTokens.add(token.content, token);
      continue;
    }
    NormalizedText text;
    text.text = token.content;
    if (Status status = normalize(parts.normalizers, text, match); !status)
      return status;
    parts.normalizedTokens.add(text.text, token);
    if (text.text != token.content)
      parts.decodedTexts.emplace_back(token.id, text.text);
  }
  std::sort(parts.decodedTexts.begin(), parts.decodedTexts.end());
  return Status::success();
}

} // namespace weft
