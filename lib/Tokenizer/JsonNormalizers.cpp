//===- JsonNormalizers.cpp - The section normalizer -----------------------===//

#include "JsonSections.h"

#include "weft/Base/Results.h"

namespace weft {

using MadeNormalizer = Expected<std::shared_ptr<const Normalizer>>;

template <typename Type, typename... Values>
static MadeNormalizer made(Values &&...values) {
  return std::shared_ptr<const Normalizer>(
      std::make_shared<Type>(std::forward<Values>(values)...));
}

static MadeNormalizer readStrip(const Section &section) {
  if (Status s = section.hasOnly({"strip_left", "strip_right"}); !s)
    return s.takeError();
  Expected<bool> left = section.cursor().getBool("strip_left");
  if (!left)
    return left.takeError();
  Expected<bool> right = section.cursor().getBool("strip_right");
  if (!right)
    return right.takeError();
  return made<StripNormalizer>(*left, *right);
}

static MadeNormalizer readReplace(const Section &section) {
  if (Status s = section.hasOnly({"pattern", "content"}); !s)
    return s.takeError();
  Expected<Pattern> pattern = section.getPattern("pattern");
  if (!pattern)
    return pattern.takeError();
  Expected<std::string> content = section.cursor().getString("content");
  if (!content)
    return content.takeError();
  return made<ReplaceNormalizer>(std::move(*pattern), std::move(*content));
}

static MadeNormalizer readPrepend(const Section &section) {
  if (Status s = section.hasOnly({"prepend"}); !s)
    return s.takeError();
  Expected<std::string> content = section.cursor().getString("prepend");
  if (!content)
    return content.takeError();
  return made<PrependNormalizer>(std::move(*content));
}

static MadeNormalizer readPrecompiled(const Section &section) {
  if (Status s = section.hasOnly({"precompiled_charsmap"}); !s)
    return s.takeError();
  Expected<std::string> text =
      section.cursor().getString("precompiled_charsmap");
  if (!text)
    return text.takeError();
  Expected<Charsmap> map = Charsmap::parseBase64(*text);
  if (!map)
    return section.cursor().error(map.error().message());
  return made<CharsmapNormalizer>(std::move(*map),
                                  CharsmapNormalizer::Rule::Clusters);
}

static MadeNormalizer readBert(const Section &section) {
  if (Status s = section.hasOnly(
          {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
      !s)
    return s.takeError();
  BertNormalizer::Rules rules;
  if (Status s = assign(section.getBool("clean_text", true), rules.cleansText);
      !s)
    return s.takeError();
  if (Status s = assign(section.getBool("handle_chinese_chars", true),
                        rules.spacesChinese);
      !s)
    return s.takeError();
  if (Status s = assign(section.getBool("lowercase", true), rules.lowersCase);
      !s)
    return s.takeError();
  if (Status s = assign(section.getBool("strip_accents", rules.lowersCase),
                        rules.stripsAccents);
      !s)
    return s.takeError();
  return made<BertNormalizer>(rules);
}

/// A type without fields; null for another one.
static std::shared_ptr<const Normalizer> makePlain(const std::string &type) {
  using Made = std::shared_ptr<const Normalizer>;
  if (type == "NFC")
    return Made(std::make_shared<FormNormalizer>(NormalForm::C));
  if (type == "NFD")
    return Made(std::make_shared<FormNormalizer>(NormalForm::D));
  if (type == "NFKC")
    return Made(std::make_shared<FormNormalizer>(NormalForm::KC));
  if (type == "NFKD")
    return Made(std::make_shared<FormNormalizer>(NormalForm::KD));
  if (type == "Lowercase")
    return Made(std::make_shared<LowercaseNormalizer>());
  if (type == "StripAccents")
    return Made(std::make_shared<StripAccentsNormalizer>());
  if (type == "Nmt")
    return Made(std::make_shared<NmtNormalizer>());
  if (type == "ByteLevel")
    return Made(std::make_shared<ByteLevelNormalizer>());
  return nullptr;
}

static MadeNormalizer readOne(const Section &section) {
  if (auto plain = makePlain(section.type())) {
    if (Status s = section.hasOnly({}); !s)
      return s.takeError();
    return plain;
  }
  if (section.type() == "Strip")
    return readStrip(section);
  if (section.type() == "Replace")
    return readReplace(section);
  if (section.type() == "Prepend")
    return readPrepend(section);
  if (section.type() == "Precompiled")
    return readPrecompiled(section);
  if (section.type() == "BertNormalizer")
    return readBert(section);
  return section.unsupported("normalizer");
}

Status readNormalizer(const JsonCursor &at, NormalizerList &out) {
  return forSteps(at, "normalizers", [&](const Section &section) -> Status {
    MadeNormalizer normalizer = readOne(section);
    if (!normalizer)
      return normalizer.takeError();
    out.push_back(std::move(*normalizer));
    return Status::success();
  });
}

} // namespace weft
