//===- JsonSections.cpp - Types and fields of sections --------------------===//

#include "JsonSections.h"

#include "weft/Base/Results.h"

#include <algorithm>

namespace weft {

Expected<Section> Section::open(const JsonCursor &at) {
  Expected<std::string> type = at.getString("type");
  if (!type)
    return type.takeError();
  return Section(at, std::move(*type));
}

Status Section::hasOnly(std::initializer_list<const char *> names) const {
  for (const JsonMember &member : at.value().asObject()) {
    const bool isKnown =
        member.name == "type" ||
        std::any_of(names.begin(), names.end(),
                    [&](const char *name) { return member.name == name; });
    if (!isKnown)
      return at.error(concat("does not support the field ",
                             inQuotes(member.name), " of ", typeName, " yet"));
  }
  return Status::success();
}

Error Section::unsupported(const char *part) const {
  return at.error(
      concat("does not support the ", part, " ", inQuotes(typeName), " yet"));
}

bool Section::has(const char *name) const {
  const Json *value = at.value().find(name);
  return value && !value->isNull();
}

Expected<bool> Section::getBool(const char *name, bool otherwise) const {
  return has(name) ? at.getBool(name) : Expected<bool>(otherwise);
}

Expected<std::string> Section::getString(const char *name,
                                         const std::string &otherwise) const {
  return has(name) ? at.getString(name) : Expected<std::string>(otherwise);
}

Expected<std::string> Section::getCharacter(const char *name) const {
  Expected<std::string> text = at.getString(name);
  if (text && (text->empty() || sequenceLength((*text)[0]) != text->size()))
    return at.error(concat("expects one character as ", name, ", but got ",
                           inQuotes(*text)));
  return text;
}

Expected<Pattern> Section::getPattern(const char *name) const {
  Expected<JsonCursor> field = at.get(name);
  if (!field)
    return field.takeError();
  Pattern pattern;
  if (field->value().isObject() && field->value().asObject().size() == 1) {
    const std::string &kind = field->value().asObject()[0].name;
    Expected<std::string> text = field->member(0).asString();
    if (!text)
      return text.takeError();
    if (kind == "String") {
      pattern.literal = std::move(*text);
      return pattern;
    }
    if (kind == "Regex") {
      Expected<Regex> regex = Regex::compile(*text);
      if (!regex)
        return field->error(regex.error().message());
      pattern.regex = std::move(*regex);
      return pattern;
    }
  }
  return field->error("expects {\"String\": ...} or {\"Regex\": ...}, but got "
                      "another value");
}

Status forSteps(const JsonCursor &at, const char *list,
                const std::function<Status(const Section &)> &read) {
  Expected<Section> section = Section::open(at);
  if (!section)
    return section.takeError();
  if (section->type() != "Sequence")
    return read(*section);
  if (Status status = section->hasOnly({list}); !status)
    return status;
  Expected<JsonCursor> steps = at.get(list);
  if (!steps)
    return steps.takeError();
  Expected<size_t> size = steps->arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) // nesting is bounded by the JSON reader
    if (Status status = forSteps(steps->element(i), list, read); !status)
      return status;
  return Status::success();
}

} // namespace weft
