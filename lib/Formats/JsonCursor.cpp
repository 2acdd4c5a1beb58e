//===- JsonCursor.cpp - Typed access with field paths ---------------------===//

#include "weft/Formats/Json.h"

#include <cmath>

namespace weft {

JsonCursor::JsonCursor(const Json &root, std::string file, ExitCode code)
    : json(&root),
      fileName(std::make_shared<const std::string>(std::move(file))),
      code(code) {}

JsonCursor::JsonCursor(const Json &value, const JsonCursor &parent,
                       std::string path)
    : json(&value), fileName(parent.fileName), fieldPath(std::move(path)),
      code(parent.code) {}

Error JsonCursor::error(const std::string &message) const {
  std::string where =
      fieldPath.empty() ? "" : "field '" + printable(fieldPath, 200) + "': ";
  return Error(code, where + message).at(*fileName, json->line());
}

/// "the string 'abc'", "an object": what stands there, for messages.
static std::string describe(const Json &json) {
  switch (json.kind()) {
  case Json::Kind::Array:
    return "an array";
  case Json::Kind::Object:
    return "an object";
  case Json::Kind::String:
    return "the string " + inQuotes(json.asString());
  default:
    return json.compact();
  }
}

Error JsonCursor::mismatch(const std::string &expected) const {
  return error("expects " + expected + ", but got " + describe(*json));
}

static std::string joinPath(const std::string &path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::optional<JsonCursor> JsonCursor::find(std::string_view name) const {
  if (const Json *value = json->find(name))
    return JsonCursor(*value, *this, joinPath(fieldPath, name));
  return std::nullopt;
}

Expected<JsonCursor> JsonCursor::get(std::string_view name) const {
  if (!json->isObject())
    return mismatch("an object");
  if (auto found = find(name))
    return *found;
  return Error(code, "field '" + joinPath(fieldPath, name) + "' is missing")
      .at(*fileName, json->line());
}

JsonCursor JsonCursor::element(size_t index) const {
  return JsonCursor(json->asArray()[index], *this,
                    fieldPath + "[" + std::to_string(index) + "]");
}

JsonCursor JsonCursor::member(size_t index) const {
  const JsonMember &member = json->asObject()[index];
  return JsonCursor(member.value, *this, joinPath(fieldPath, member.name));
}

Expected<size_t> JsonCursor::arraySize() const {
  if (!json->isArray())
    return mismatch("an array");
  return json->asArray().size();
}

Expected<size_t> JsonCursor::objectSize() const {
  if (!json->isObject())
    return mismatch("an object");
  return json->asObject().size();
}

Expected<bool> JsonCursor::asBool() const {
  if (!json->isBool())
    return mismatch("true or false");
  return json->asBool();
}

static std::string rangeText(int64_t least, int64_t most) {
  bool low = least != std::numeric_limits<int64_t>::min();
  bool high = most != std::numeric_limits<int64_t>::max();
  if (low && high)
    return " from " + std::to_string(least) + " to " + std::to_string(most);
  if (low)
    return " of at least " + std::to_string(least);
  if (high)
    return " of at most " + std::to_string(most);
  return "";
}

Expected<int64_t> JsonCursor::asInt(int64_t least, int64_t most) const {
  if (!json->isInt() || json->asInt() < least || json->asInt() > most)
    return mismatch("an integer" + rangeText(least, most));
  return json->asInt();
}

Expected<double> JsonCursor::asDouble() const {
  if (!json->isNumber() || !std::isfinite(json->asDouble()))
    return mismatch("a number");
  return json->asDouble();
}

Expected<std::string> JsonCursor::asString() const {
  if (!json->isString())
    return mismatch("a string");
  return json->asString();
}

Expected<std::vector<int64_t>> JsonCursor::asIntArray(int64_t least) const {
  if (!json->isArray())
    return mismatch("an array of integers");
  std::vector<int64_t> result;
  result.reserve(json->asArray().size());
  for (size_t i = 0; i < json->asArray().size(); ++i) {
    auto value = element(i).asInt(least);
    if (!value)
      return value.takeError();
    result.push_back(*value);
  }
  return result;
}

Expected<bool> JsonCursor::getBool(std::string_view name) const {
  auto field = get(name);
  if (!field)
    return field.takeError();
  return field->asBool();
}

Expected<int64_t> JsonCursor::getInt(std::string_view name, int64_t least,
                                     int64_t most) const {
  auto field = get(name);
  if (!field)
    return field.takeError();
  return field->asInt(least, most);
}

Expected<double> JsonCursor::getDouble(std::string_view name) const {
  auto field = get(name);
  if (!field)
    return field.takeError();
  return field->asDouble();
}

Expected<std::string> JsonCursor::getString(std::string_view name) const {
  auto field = get(name);
  if (!field)
    return field.takeError();
  return field->asString();
}

Expected<std::vector<int64_t>> JsonCursor::getIntArray(std::string_view name,
                                                       int64_t least) const {
  auto field = get(name);
  if (!field)
    return field.takeError();
  return field->asIntArray(least);
}

} // namespace weft
