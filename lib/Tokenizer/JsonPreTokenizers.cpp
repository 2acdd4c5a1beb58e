//===- JsonPreTokenizers.cpp - The section pre_tokenizer ------------------===//

#include "JsonSections.h"

#include "weft/Base/Results.h"

namespace weft {

using MadePreTokenizer = Expected<std::shared_ptr<const PreTokenizer>>;

template <typename Type, typename... Values>
static MadePreTokenizer made(Values &&...values) {
  return std::shared_ptr<const PreTokenizer>(
      std::make_shared<Type>(std::forward<Values>(values)...));
}

static Expected<SplitBehavior> readBehavior(const Section &section) {
  if (!section.has("behavior"))
    return SplitBehavior::Isolated;
  Expected<std::string> text = section.cursor().getString("behavior");
  if (!text)
    return text.takeError();
  static constexpr std::pair<const char *, SplitBehavior> kNames[] = {
      {"Removed", SplitBehavior::Removed},
      {"Isolated", SplitBehavior::Isolated},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous}};
  for (const auto &[name, behavior] : kNames)
    if (*text == name)
      return behavior;
  return section.cursor().error("does not support the behavior " +
                                inQuotes(*text) + " yet");
}

static MadePreTokenizer readSplit(const Section &section) {
  if (Status s = section.hasOnly({"pattern", "behavior", "invert"}); !s)
    return s.takeError();
  Expected<Pattern> pattern = section.getPattern("pattern");
  if (!pattern)
    return pattern.takeError();
  Expected<SplitBehavior> behavior = readBehavior(section);
  if (!behavior)
    return behavior.takeError();
  Expected<bool> isInverted = section.getBool("invert", false);
  if (!isInverted)
    return isInverted.takeError();
  return made<PatternSplit>(std::move(*pattern), *behavior, *isInverted);
}

static Expected<ByteLevelSplit::Rules> readByteLevel(const Section &section) {
  if (Status s =
          section.hasOnly({"add_prefix_space", "trim_offsets", "use_regex"});
      !s)
    return s.takeError();
  ByteLevelSplit::Rules rules;
  if (Status s =
          assign(section.getBool("add_prefix_space", true), rules.addsSpace);
      !s)
    return s.takeError();
  if (Status s = assign(section.getBool("use_regex", true), rules.splits); !s)
    return s.takeError();
  return rules;
}

static Expected<MetaspaceSplit::Prepend> readScheme(const Section &section) {
  Expected<std::string> scheme = section.getString("prepend_scheme", "always");
  if (!scheme)
    return scheme.takeError();
  Expected<bool> addsSpace = section.getBool("add_prefix_space", true);
  if (!addsSpace)
    return addsSpace.takeError();
  if (!*addsSpace) {
    if (section.has("prepend_scheme") && *scheme != "never")
      return section.cursor().error(
          "expects prepend_scheme never with add_prefix_space false, but got " +
          inQuotes(*scheme));
    return MetaspaceSplit::Prepend::Never;
  }
  if (*scheme == "always")
    return MetaspaceSplit::Prepend::Always;
  if (*scheme == "first")
    return MetaspaceSplit::Prepend::First;
  if (*scheme == "never")
    return MetaspaceSplit::Prepend::Never;
  return section.cursor().error(
      "expects prepend_scheme always, first or never, but got " +
      inQuotes(*scheme));
}

static MadePreTokenizer readMetaspace(const Section &section) {
  if (Status s = section.hasOnly({"replacement", "prepend_scheme",
                                  "add_prefix_space", "split", "str_rep"});
      !s)
    return s.takeError();
  Expected<std::string> mark = section.getCharacter("replacement");
  if (!mark)
    return mark.takeError();
  Expected<MetaspaceSplit::Prepend> prepend = readScheme(section);
  if (!prepend)
    return prepend.takeError();
  Expected<bool> splits = section.getBool("split", true);
  if (!splits)
    return splits.takeError();
  return made<MetaspaceSplit>(std::move(*mark), *prepend, *splits);
}

static MadePreTokenizer readDigits(const Section &section) {
  if (Status s = section.hasOnly({"individual_digits"}); !s)
    return s.takeError();
  Expected<bool> single = section.getBool("individual_digits", false);
  if (!single)
    return single.takeError();
  return made<CharacterSplit>(isNumeric, *single ? SplitBehavior::Isolated
                                                 : SplitBehavior::Contiguous);
}

static MadePreTokenizer readPunctuation(const Section &section) {
  if (Status s = section.hasOnly({"behavior"}); !s)
    return s.takeError();
  Expected<SplitBehavior> behavior = readBehavior(section);
  if (!behavior)
    return behavior.takeError();
  return made<CharacterSplit>(isPunctuation, *behavior);
}

static MadePreTokenizer readDelimiter(const Section &section) {
  if (Status s = section.hasOnly({"delimiter"}); !s)
    return s.takeError();
  Expected<std::string> delimiter = section.getCharacter("delimiter");
  if (!delimiter)
    return delimiter.takeError();
  return made<PatternSplit>(Pattern{std::move(*delimiter), std::nullopt},
                            SplitBehavior::Removed, /*isInverted=*/false);
}

static MadePreTokenizer readOne(const Section &section) {
  const std::string &type = section.type();
  if (type == "Split")
    return readSplit(section);
  if (type == "Metaspace")
    return readMetaspace(section);
  if (type == "Digits")
    return readDigits(section);
  if (type == "Punctuation")
    return readPunctuation(section);
  if (type == "CharDelimiterSplit")
    return readDelimiter(section);
  if (type != "Whitespace" && type != "WhitespaceSplit" &&
      type != "BertPreTokenizer")
    return section.unsupported("pre-tokenizer");
  if (Status s = section.hasOnly({}); !s)
    return s.takeError();
  if (type == "Whitespace")
    return made<WhitespaceWords>();
  return made<CharacterSplit>(isSpace, SplitBehavior::Removed);
}

Status readPreTokenizer(const JsonCursor &at, Tokenizer::Parts &parts,
                        bool &endsByteLevel) {
  std::vector<std::optional<ByteLevelSplit::Rules>> rules;
  Status status =
      forSteps(at, "pretokenizers", [&](const Section &section) -> Status {
        rules.emplace_back();
        if (section.type() == "ByteLevel") {
          parts.preTokenizers.emplace_back();
          return assign(readByteLevel(section), rules.back());
        }
        MadePreTokenizer step = readOne(section);
        if (!step)
          return step.takeError();
        parts.preTokenizers.push_back(std::move(*step));
        if (section.type() == "BertPreTokenizer") {
          rules.emplace_back();
          parts.preTokenizers.push_back(std::make_shared<CharacterSplit>(
              isPunctuation, SplitBehavior::Isolated));
        }
        return Status::success();
      });
  if (!status)
    return status;
  // Behind a last and only ByteLevel, a model can work on the bytes themselves.
  size_t count = 0;
  for (const auto &rule : rules)
    count += rule.has_value();
  endsByteLevel = endsByteLevel && count == 1 && rules.back();
  for (size_t i = 0; i < rules.size(); ++i) {
    if (!rules[i])
      continue;
    rules[i]->spells = !endsByteLevel;
    auto step = ByteLevelSplit::create(*rules[i]);
    if (!step)
      return step.takeError();
    parts.preTokenizers[i] = std::move(*step);
  }
  return Status::success();
}

} // namespace weft
