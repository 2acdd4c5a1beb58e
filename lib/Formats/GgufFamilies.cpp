//===- GgufFamilies.cpp - The table of GGUF architectures -----------------===//

#include "weft/Formats/GgufFamilies.h"

#include "GgufFamilyRows.h"
#include "weft/Base/Text.h"

namespace weft {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The first row of an architecture reads its files.
static const std::vector<GgufFamily> &families() {
  static const std::vector<GgufFamily> rows = {
      makeGgufGemma(), makeGgufGemma2(),  makeGgufGemma3(),
      makeGgufGpt2(),  makeGgufGptNeoX(), makeGgufGranite(),
      makeGgufLlama(), makeGgufMistral(), makeGgufOlmo2(),
      makeGgufPhi2(),  makeGgufPhi3(),    makeGgufQwen2(),
      makeGgufQwen3(), makeGgufSmolLm3(), makeGgufStarCoder2()};
  return rows;
}

const GgufFamily *findGgufFamily(std::string_view architecture) {
  for (const GgufFamily &family : families())
    if (architecture == family.architecture)
      return &family;
  return nullptr;
}

const GgufFamily *familyOfModelType(std::string_view modelType) {
  for (const GgufFamily &family : families())
    if (modelType == family.modelType)
      return &family;
  return nullptr;
}

/// "a, b or c", each name once.
static std::string joinNames(const char *GgufFamily::*name) {
  std::vector<std::string> names;
  for (const GgufFamily &family : families())
    if (names.empty() || names.back() != family.*name)
      names.push_back(family.*name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

std::string ggufArchitectures() { return joinNames(&GgufFamily::architecture); }

std::string ggufModelTypes() { return joinNames(&GgufFamily::modelType); }

Expected<const GgufFamily *> familyOf(const GgufFile &file) {
  static constexpr char kKey[] = "general.architecture";
  auto name = file.text(kKey);
  if (!name)
    return name.takeError();
  if (!*name)
    return inputError(std::string("expects key '") + kKey + "', " +
                      ggufArchitectures() + ", but there is none")
        .at(file.path());
  const GgufFamily *family = findGgufFamily(**name);
  if (!family) {
    Error error = file.valueError(*file.findEntry(kKey),
                                  "expects " + ggufArchitectures() +
                                      ", but got " + inQuotes(**name));
    return error.hint(
        "weft reads other families from a folder with config.json "
        "and safetensors");
  }
  return family;
}

int64_t ggufHeads(const GgufFamily &family, const Json &config,
                  GgufLayout layout) {
  const Json *heads = config.find(family.queryHeads);
  if (layout == GgufLayout::KeyHeads)
    if (const Json *own = config.find(family.keyHeads); own && !own->isNull())
      heads = own;
  return heads && heads->isInt() ? heads->asInt() : 1;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The number of the block in a name of the form `pattern`; "" for a pattern
/// without one, nothing if the name has another form.
static std::optional<std::string> matchName(std::string_view pattern,
                                            std::string_view name) {
  const size_t hole = pattern.find("{}");
  if (hole == pattern.npos)
    return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string_view front = pattern.substr(0, hole);
  const std::string_view back = pattern.substr(hole + 2);
  if (name.size() <= front.size() + back.size() ||
      name.substr(0, hole) != front || !endsWith(name, back))
    return std::nullopt;
  const std::string_view number =
      name.substr(hole, name.size() - front.size() - back.size());
  // One spelling for each number.
  if (number.size() > 9 ||
      number.find_first_not_of("0123456789") != number.npos ||
      (number.size() > 1 && number[0] == '0'))
    return std::nullopt;
  return std::string(number);
}

static std::optional<GgufName> translate(const GgufFamily &family,
                                         std::string_view name,
                                         const char *GgufTensorRow::*from,
                                         const char *GgufTensorRow::*to) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos)
    return std::nullopt;
  const std::string_view ending = name.substr(dot);
  if (ending != ".weight" && ending != ".bias")
    return std::nullopt;
  for (const GgufTensorRow &row : family.tensors)
    if (auto number = matchName(row.*from, name.substr(0, dot))) {
      std::string other = row.*to;
      if (const size_t hole = other.find("{}"); hole != other.npos)
        other.replace(hole, 2, *number);
      return GgufName{other + std::string(ending), &row};
    }
  return std::nullopt;
}

std::optional<GgufName> toModelName(const GgufFamily &family,
                                    std::string_view gguf) {
  return translate(family, gguf, &GgufTensorRow::gguf, &GgufTensorRow::model);
}

std::optional<GgufName> toGgufName(const GgufFamily &family,
                                   std::string_view model) {
  return translate(family, model, &GgufTensorRow::model, &GgufTensorRow::gguf);
}

} // namespace weft
