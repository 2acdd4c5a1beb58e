//===- JsonProcessors.cpp - The sections post_processor and decoder -------===//

#include "JsonSections.h"

#include "weft/Base/Results.h"

#include <algorithm>

namespace weft {

//===----------------------------------------------------------------------===//
// Post-processors
//===----------------------------------------------------------------------===//

/// Puts outer ids around a frame.
static void wrap(TextFrame &frame, const TextFrame &outer) {
  frame.before.insert(frame.before.begin(), outer.before.begin(),
                      outer.before.end());
  frame.behind.insert(frame.behind.end(), outer.behind.begin(),
                      outer.behind.end());
}

static Expected<int32_t> knownId(const JsonCursor &at, int64_t id,
                                 const Vocabulary &vocabulary) {
  if (!vocabulary.has(id))
    return at.error(concat("expects a token of the vocabulary, but got ", id));
  return int32_t(id);
}

/// The ids of a special token of a template.
static Expected<std::vector<int32_t>>
readSpecial(const Section &section, const std::string &name,
            const Vocabulary &vocabulary) {
  Expected<JsonCursor> all = section.cursor().get("special_tokens");
  if (!all)
    return all.takeError();
  Expected<JsonCursor> token = all->get(name);
  if (!token)
    return token.takeError();
  Expected<std::vector<int64_t>> numbers = token->getIntArray("ids");
  if (!numbers)
    return numbers.takeError();
  std::vector<int32_t> ids;
  for (int64_t number : *numbers) {
    Expected<int32_t> id = knownId(*token, number, vocabulary);
    if (!id)
      return id.takeError();
    ids.push_back(*id);
  }
  return ids;
}

static Expected<TextFrame> readTemplate(const Section &section,
                                        const Vocabulary &vocabulary) {
  if (Status s = section.hasOnly({"single", "pair", "special_tokens"}); !s)
    return s.takeError();
  Expected<JsonCursor> single = section.cursor().get("single");
  if (!single)
    return single.takeError();
  Expected<size_t> size = single->arraySize();
  if (!size)
    return size.takeError();
  TextFrame frame;
  int texts = 0;
  for (size_t i = 0; i < *size; ++i) {
    const JsonCursor piece = single->element(i);
    if (auto sequence = piece.find("Sequence")) {
      Expected<std::string> name = sequence->getString("id");
      if (!name)
        return name.takeError();
      texts += *name == "A" ? 1 : 2;
      continue;
    }
    Expected<JsonCursor> special = piece.get("SpecialToken");
    if (!special)
      return special.takeError();
    Expected<std::string> name = special->getString("id");
    if (!name)
      return name.takeError();
    Expected<std::vector<int32_t>> ids =
        readSpecial(section, *name, vocabulary);
    if (!ids)
      return ids.takeError();
    std::vector<int32_t> &side = texts ? frame.behind : frame.before;
    side.insert(side.end(), ids->begin(), ids->end());
  }
  if (texts != 1)
    return single->error("expects the sequence A once, but got another list");
  return frame;
}

/// A pair ["<s>", 0].
static Expected<int32_t> readPair(const Section &section, const char *name,
                                  const Vocabulary &vocabulary) {
  Expected<JsonCursor> pair = section.cursor().get(name);
  if (!pair)
    return pair.takeError();
  Expected<size_t> size = pair->arraySize();
  if (!size)
    return size.takeError();
  if (*size != 2)
    return pair->error("expects a token and its number, but got " +
                       std::to_string(*size) + " values");
  Expected<int64_t> id = pair->element(1).asInt();
  if (!id)
    return id.takeError();
  return knownId(pair->element(1), *id, vocabulary);
}

static Expected<TextFrame> readClassifier(const Section &section,
                                          const Vocabulary &vocabulary) {
  if (Status s =
          section.hasOnly({"sep", "cls", "trim_offsets", "add_prefix_space"});
      !s)
    return s.takeError();
  Expected<int32_t> first = readPair(section, "cls", vocabulary);
  if (!first)
    return first.takeError();
  Expected<int32_t> last = readPair(section, "sep", vocabulary);
  if (!last)
    return last.takeError();
  return TextFrame{{*first}, {*last}};
}

Status readPostProcessor(const JsonCursor &at, Tokenizer::Parts &parts) {
  return forSteps(at, "processors", [&](const Section &section) -> Status {
    const std::string &type = section.type();
    if (type == "ByteLevel") // changes offsets only
      return section.hasOnly({"add_prefix_space", "trim_offsets", "use_regex"});
    const bool isTemplate = type == "TemplateProcessing";
    if (!isTemplate && type != "RobertaProcessing" && type != "BertProcessing")
      return section.unsupported("post-processor");
    Expected<TextFrame> frame =
        isTemplate ? readTemplate(section, *parts.vocabulary)
                   : readClassifier(section, *parts.vocabulary);
    if (!frame)
      return frame.takeError();
    wrap(parts.frame, *frame);
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

using MadeDecoder = Expected<std::shared_ptr<const Decoder>>;

template <typename Type, typename... Values>
static MadeDecoder made(Values &&...values) {
  return std::shared_ptr<const Decoder>(
      std::make_shared<Type>(std::forward<Values>(values)...));
}

static MadeDecoder readStrip(const Section &section) {
  if (Status s = section.hasOnly({"content", "start", "stop"}); !s)
    return s.takeError();
  Expected<std::string> content = section.getCharacter("content");
  if (!content)
    return content.takeError();
  Expected<int64_t> start = section.cursor().getInt("start", 0);
  if (!start)
    return start.takeError();
  Expected<int64_t> stop = section.cursor().getInt("stop", 0);
  if (!stop)
    return stop.takeError();
  return made<StripDecoder>(std::move(*content), *start, *stop);
}

static MadeDecoder readReplace(const Section &section) {
  if (Status s = section.hasOnly({"pattern", "content"}); !s)
    return s.takeError();
  Expected<Pattern> pattern = section.getPattern("pattern");
  if (!pattern)
    return pattern.takeError();
  Expected<std::string> content = section.cursor().getString("content");
  if (!content)
    return content.takeError();
  return made<ReplaceDecoder>(std::move(*pattern), std::move(*content));
}

static MadeDecoder readMetaspace(const Section &section) {
  if (Status s = section.hasOnly({"replacement", "prepend_scheme",
                                  "add_prefix_space", "split", "str_rep"});
      !s)
    return s.takeError();
  Expected<std::string> mark = section.getCharacter("replacement");
  if (!mark)
    return mark.takeError();
  Expected<std::string> scheme = section.getString("prepend_scheme", "always");
  if (!scheme)
    return scheme.takeError();
  Expected<bool> addsSpace = section.getBool("add_prefix_space", true);
  if (!addsSpace)
    return addsSpace.takeError();
  return made<MetaspaceDecoder>(std::move(*mark),
                                *addsSpace && *scheme != "never");
}

static MadeDecoder readWordPiece(const Section &section) {
  if (Status s = section.hasOnly({"prefix", "cleanup"}); !s)
    return s.takeError();
  Expected<std::string> prefix = section.cursor().getString("prefix");
  if (!prefix)
    return prefix.takeError();
  Expected<bool> cleansUp = section.cursor().getBool("cleanup");
  if (!cleansUp)
    return cleansUp.takeError();
  return made<WordPieceDecoder>(std::move(*prefix), *cleansUp);
}

static MadeDecoder readOne(const Section &section) {
  const std::string &type = section.type();
  if (type == "ByteLevel") {
    if (Status s =
            section.hasOnly({"add_prefix_space", "trim_offsets", "use_regex"});
        !s)
      return s.takeError();
    return made<ByteLevelDecoder>();
  }
  if (type == "Strip")
    return readStrip(section);
  if (type == "Replace")
    return readReplace(section);
  if (type == "Metaspace")
    return readMetaspace(section);
  if (type == "WordPiece")
    return readWordPiece(section);
  if (type == "BPEDecoder") {
    if (Status s = section.hasOnly({"suffix"}); !s)
      return s.takeError();
    Expected<std::string> suffix = section.getString("suffix", "</w>");
    if (!suffix)
      return suffix.takeError();
    return made<WordSuffixDecoder>(std::move(*suffix));
  }
  if (type != "ByteFallback" && type != "Fuse")
    return section.unsupported("decoder");
  if (Status s = section.hasOnly({}); !s)
    return s.takeError();
  return type == "Fuse" ? made<FuseDecoder>() : made<ByteFallbackDecoder>();
}

Status readDecoder(const JsonCursor &at, Tokenizer::Parts &parts) {
  return forSteps(at, "decoders", [&](const Section &section) -> Status {
    MadeDecoder decoder = readOne(section);
    if (!decoder)
      return decoder.takeError();
    parts.decodesBytes |= section.type() == "ByteLevel";
    parts.decoders.push_back(std::move(*decoder));
    return Status::success();
  });
}

} // namespace weft
