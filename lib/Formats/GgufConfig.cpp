//===- GgufConfig.cpp - The configuration in a GGUF file ------------------===//

#include "GgufFamilyRows.h"
#include "GgufRope.h"
#include "weft/Base/Text.h"

#include <cmath>
#include <cstring>
#include <set>

namespace weft {

namespace {
/// Builds the fields of config.json from the keys of an architecture.
class ConfigBuilder {
public:
  ConfigBuilder(const GgufFile &file, const GgufFamily &family)
      : file(file), family(family),
        prefix(std::string(family.architecture) + ".") {}

  Expected<Json> build();

private:
  Status addKey(const GgufKeyRow &row);
  Status addInteger(const std::string &key, const GgufKeyRow &row);
  Status addNumber(const std::string &key, const GgufKeyRow &row);
  Status addFlag(const std::string &key, const GgufKeyRow &row);
  Status addWindow(const std::string &key, const GgufKeyRow &row);
  Status addRotaryWidth(const std::string &key, const GgufKeyRow &row);
  Status checkEqual(const std::string &key, const GgufKeyRow &row);
  Status checkZero(const std::string &key, const GgufKeyRow &row);
  /// The value of a field, or of its default.
  std::optional<int64_t> integerOf(std::string_view field) const;
  void addKeyHeads();
  Status addVocabulary();
  Status addTie();
  Status addUnknown();
  Error missing(const std::string &key) const {
    return inputError("expects key '" + key + "', but there is none")
        .at(file.path());
  }

  const GgufFile &file;
  const GgufFamily &family;
  const std::string prefix;
  Json config = Json::object();
};
} // namespace

Status ConfigBuilder::addInteger(const std::string &key,
                                 const GgufKeyRow &row) {
  auto value = file.integer(key);
  if (!value)
    return value.takeError();
  if (*value && **value < 1)
    return file.valueError(*file.findEntry(key),
                           "expects an integer of at least 1, but got " +
                               std::to_string(**value));
  if (*value)
    config.set(row.field, **value);
  else if (row.use == GgufKeyUse::RequiredInteger)
    return missing(key);
  return Status::success();
}

Status ConfigBuilder::addNumber(const std::string &key, const GgufKeyRow &row) {
  auto value = file.number(key);
  if (!value)
    return value.takeError();
  if (*value)
    config.set(row.field, **value);
  else if (row.use == GgufKeyUse::RequiredNumber)
    return missing(key);
  return Status::success();
}

Status ConfigBuilder::addFlag(const std::string &key, const GgufKeyRow &row) {
  auto value = file.boolean(key);
  if (!value)
    return value.takeError();
  if (*value)
    config.set(row.field, **value);
  return Status::success();
}

Status ConfigBuilder::addWindow(const std::string &key, const GgufKeyRow &row) {
  auto value = file.integer(key);
  if (!value)
    return value.takeError();
  if (*value && **value < 0)
    return file.valueError(*file.findEntry(key),
                           "expects an integer of at least 0, but got " +
                               std::to_string(**value));
  if (*value)
    config.set(row.field, **value == 0 ? Json() : Json(**value));
  return Status::success();
}

/// The fraction whose product with the width, rounded down, is the key.
Status ConfigBuilder::addRotaryWidth(const std::string &key,
                                     const GgufKeyRow &row) {
  auto value = file.integer(key);
  if (!value)
    return value.takeError();
  const int64_t width = headWidthOf(config);
  const int64_t rotated = value->value_or(width);
  if (rotated < 1 || rotated > width)
    return *value ? file.valueError(*file.findEntry(key),
                                    "expects an integer from 1 to the width of "
                                    "a head, " +
                                        std::to_string(width) + ", but got " +
                                        std::to_string(rotated))
                  : missing(key);
  double part = double(rotated) / double(width);
  if (static_cast<int64_t>(double(width) * part) < rotated)
    part = std::nextafter(part, 2.0);
  config.set(row.field, part);
  return Status::success();
}

std::optional<int64_t> ConfigBuilder::integerOf(std::string_view field) const {
  const Json *value = config.find(field);
  if (value)
    return value->asInt();
  const Json *width = config.find(family.width);
  const Json *heads = config.find(family.queryHeads);
  if (field == "head_dim" && width && heads)
    return width->asInt() / heads->asInt();
  return std::nullopt;
}

Status ConfigBuilder::checkEqual(const std::string &key,
                                 const GgufKeyRow &row) {
  auto value = file.integer(key);
  if (!value)
    return value.takeError();
  const std::optional<int64_t> expected = integerOf(row.field);
  if (*value && expected && **value != *expected)
    return file.valueError(*file.findEntry(key),
                           "expects the value of " + std::string(row.field) +
                               ", " + std::to_string(*expected) + ", but got " +
                               std::to_string(**value));
  return Status::success();
}

Status ConfigBuilder::checkZero(const std::string &key, const GgufKeyRow &row) {
  auto value = file.integer(key);
  if (!value)
    return value.takeError();
  if (*value && **value != 0)
    return file.valueError(*file.findEntry(key),
                           std::string("does not support ") + row.field +
                               " yet: expects 0, but got " +
                               std::to_string(**value));
  return Status::success();
}

Status ConfigBuilder::addKey(const GgufKeyRow &row) {
  const std::string key = prefix + row.key;
  switch (row.use) {
  case GgufKeyUse::Integer:
  case GgufKeyUse::RequiredInteger:
    return addInteger(key, row);
  case GgufKeyUse::Number:
  case GgufKeyUse::RequiredNumber:
    return addNumber(key, row);
  case GgufKeyUse::Flag:
    return addFlag(key, row);
  case GgufKeyUse::Window:
    return addWindow(key, row);
  case GgufKeyUse::RotaryWidth:
    return addRotaryWidth(key, row);
  case GgufKeyUse::Equal:
    return checkEqual(key, row);
  case GgufKeyUse::Written:
    break;
  case GgufKeyUse::Zero:
    return checkZero(key, row);
  }
  return Status::success();
}

static constexpr char kTokenTable[] = "token_embd.weight";

/// Without a key, each query head has a key head of its own; transformers has
/// numbers in some families.
void ConfigBuilder::addKeyHeads() {
  const Json *heads = config.find(family.queryHeads);
  if (heads && !config.find(family.keyHeads))
    config.set(family.keyHeads, heads->asInt());
}

/// Without a key, the token table has a row for each token.
Status ConfigBuilder::addVocabulary() {
  if (config.find("vocab_size"))
    return Status::success();
  const GgufTensor *table = file.find(kTokenTable);
  if (!table || table->shape.size() != 2)
    return missing(prefix + "vocab_size");
  config.set("vocab_size", table->shape[0]);
  return Status::success();
}

static Expected<bool> haveEqualBytes(const GgufFile &file, const GgufTensor &a,
                                     const GgufTensor &b) {
  if (a.type != b.type || a.shape != b.shape)
    return false;
  std::vector<char> left(1 << 18), right(1 << 18);
  for (int64_t at = 0, size = a.end - a.begin; at < size;) {
    const int64_t part = std::min<int64_t>(int64_t(left.size()), size - at);
    if (Status s = file.bytes().read(a.begin + at, part, left.data()); !s)
      return s.takeError();
    if (Status s = file.bytes().read(b.begin + at, part, right.data()); !s)
      return s.takeError();
    if (std::memcmp(left.data(), right.data(), size_t(part)) != 0)
      return false;
    at += part;
  }
  return true;
}

Status ConfigBuilder::addTie() {
  const GgufTensor *head = file.find("output.weight");
  const GgufTensor *table = file.find(kTokenTable);
  bool isTied = !head;
  if (head && table && family.tiesEqualHead) {
    auto equal = haveEqualBytes(file, *head, *table);
    if (!equal)
      return equal.takeError();
    isTied = *equal;
  }
  config.set("tie_word_embeddings", isTied);
  return Status::success();
}

/// Keys that no row reads may change the model: the reader of the configuration
/// refuses fields that it does not know.
Status ConfigBuilder::addUnknown() {
  std::set<std::string> known;
  if (family.theta)
    for (const char *key : kScalingKeys)
      known.insert(family.architecture + std::string(key));
  for (const GgufKeyRow &row : family.keys)
    known.insert(prefix + row.key);
  for (const GgufEntry &entry : file.entries())
    if (entry.key.compare(0, prefix.size(), prefix) == 0 &&
        !known.count(entry.key))
      config.set(entry.key,
                 std::string("a value of type ") + ggufTypeName(entry.type));
  return Status::success();
}

/// A model of several files has weights that this one lacks.
static Status checkWhole(const GgufFile &file) {
  static constexpr char kParts[] = "split.count";
  auto parts = file.integer(kParts);
  if (!parts)
    return parts.takeError();
  if (parts->value_or(1) > 1)
    return file
        .valueError(*file.findEntry(kParts),
                    "does not support models of several files yet")
        .hint("merge them: llama-gguf-split --merge FIRST_FILE OUT");
  return Status::success();
}

Expected<Json> ConfigBuilder::build() {
  config.set("model_type", family.modelType);
  Status status = checkWhole(file);
  for (const GgufKeyRow &row : family.keys)
    if (status)
      status = addKey(row);
  addKeyHeads();
  if (status)
    status = addVocabulary();
  if (status)
    status = addTie();
  if (status && family.addFields)
    status = family.addFields(file, config);
  if (status && family.theta)
    status = addRopeScaling(file, family, config);
  if (status)
    status = addUnknown();
  if (!status)
    return status.takeError();
  return std::move(config);
}

Expected<Json> ggufConfig(const GgufFile &file) {
  auto family = familyOf(file);
  if (!family)
    return family.takeError();
  return ConfigBuilder(file, **family).build();
}

} // namespace weft
