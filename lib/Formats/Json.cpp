//===- Json.cpp - JSON values, writer and typed access --------------------===//

#include "weft/Formats/Json.h"

#include <charconv>
#include <cmath>

namespace weft {

const Json *Json::find(std::string_view name) const {
  if (!isObject())
    return nullptr;
  for (const JsonMember &member : asObject())
    if (member.name == name)
      return &member.value;
  return nullptr;
}

Json &Json::set(std::string_view name, Json value) {
  for (JsonMember &member : asObject())
    if (member.name == name)
      return member.value = std::move(value);
  asObject().push_back({std::string(name), std::move(value)});
  return asObject().back().value;
}

Json &Json::push(Json value) {
  asArray().push_back(std::move(value));
  return asArray().back();
}

static bool operator==(const JsonMember &a, const JsonMember &b) {
  return a.name == b.name && a.value == b.value;
}

bool Json::operator==(const Json &other) const {
  return content == other.content;
}

static void appendEscape(std::string &out, unsigned char c) {
  switch (c) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  default:
    out += "\\u00";
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
}

/// ASCII that a string holds as it is.
static bool isPlain(unsigned char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void appendJsonString(std::string &out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    size_t plain = i;
    while (plain < text.size() && isPlain(text[plain]))
      ++plain;
    out.append(text, i, plain - i);
    i = plain;
    if (i == text.size())
      break;
    unsigned char c = static_cast<unsigned char>(text[i]);
    size_t length = utf8Length(text.substr(i));
    if (length == 0)
      out += "\xef\xbf\xbd";
    else if (c < 0x80)
      appendEscape(out, c);
    else
      out.append(text, i, length);
    i += length ? length : 1;
  }
  out += '"';
}

static void appendDouble(std::string &out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  // Keeps the kind: 1.0 reads back as a double.
  if (text.find_first_of(".e") == text.npos)
    out += ".0";
}

namespace {

/// Writes a value; `indent` is the depth in pretty text, negative on one line.
class Writer {
public:
  explicit Writer(bool pretty) : pretty(pretty) {}
  void value(const Json &json);
  std::string out;

private:
  void line();
  void array(const Json::Array &elements);
  void object(const Json::Object &members);

  bool pretty;
  int depth = 0;
};

} // namespace

void Writer::line() {
  if (!pretty)
    return;
  out += '\n';
  out.append(static_cast<size_t>(2 * depth), ' ');
}

void Writer::array(const Json::Array &elements) {
  // Arrays of plain values stay on one line: shapes, offsets.
  bool flat = true;
  for (const Json &element : elements)
    flat &= !element.isArray() && !element.isObject();
  out += '[';
  ++depth;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i)
      out += pretty && flat ? ", " : ",";
    if (!flat)
      line();
    value(elements[i]);
  }
  --depth;
  if (!flat)
    line();
  out += ']';
}

void Writer::object(const Json::Object &members) {
  out += '{';
  ++depth;
  for (size_t i = 0; i < members.size(); ++i) {
    if (i)
      out += ',';
    line();
    appendJsonString(out, members[i].name);
    out += pretty ? ": " : ":";
    value(members[i].value);
  }
  --depth;
  if (!members.empty())
    line();
  out += '}';
}

void Writer::value(const Json &json) {
  switch (json.kind()) {
  case Json::Kind::Null:
    out += "null";
    return;
  case Json::Kind::Bool:
    out += json.asBool() ? "true" : "false";
    return;
  case Json::Kind::Int:
    out += std::to_string(json.asInt());
    return;
  case Json::Kind::Double:
    return appendDouble(out, json.asDouble());
  case Json::Kind::String:
    return appendJsonString(out, json.asString());
  case Json::Kind::Array:
    return array(json.asArray());
  case Json::Kind::Object:
    return object(json.asObject());
  }
}

std::string Json::compact() const {
  Writer writer(/*pretty=*/false);
  writer.value(*this);
  return std::move(writer.out);
}

std::string Json::pretty() const {
  Writer writer(/*pretty=*/true);
  writer.value(*this);
  return std::move(writer.out) + "\n";
}

//===----------------------------------------------------------------------===//
// Typed access with field paths
//===----------------------------------------------------------------------===//

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

/// The required member `name`, as `as` reads it.
template <typename As>
static auto getAs(const JsonCursor &object, std::string_view name, As as)
    -> decltype(as(object)) {
  auto field = object.get(name);
  if (!field)
    return field.takeError();
  return as(*field);
}

Expected<bool> JsonCursor::getBool(std::string_view name) const {
  return getAs(*this, name, [](const JsonCursor &at) { return at.asBool(); });
}

Expected<int64_t> JsonCursor::getInt(std::string_view name, int64_t least,
                                     int64_t most) const {
  return getAs(*this, name,
               [&](const JsonCursor &at) { return at.asInt(least, most); });
}

Expected<double> JsonCursor::getDouble(std::string_view name) const {
  return getAs(*this, name, [](const JsonCursor &at) { return at.asDouble(); });
}

Expected<std::string> JsonCursor::getString(std::string_view name) const {
  return getAs(*this, name, [](const JsonCursor &at) { return at.asString(); });
}

Expected<std::vector<int64_t>> JsonCursor::getIntArray(std::string_view name,
                                                       int64_t least) const {
  return getAs(*this, name,
               [&](const JsonCursor &at) { return at.asIntArray(least); });
}

} // namespace weft
