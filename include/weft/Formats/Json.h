//===- Json.h - JSON values that know their line ----------------*- C++ -*-===//
//
// A small JSON document: objects keep their order, every value keeps its line,
// depth and size are limited, duplicate names are errors. The writer is
// deterministic, so equal values give equal bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_JSON_H
#define WEFT_FORMATS_JSON_H

#include "weft/Base/Error.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace weft {

struct JsonMember;

/// One JSON value.
class Json {
public:
  enum class Kind { Null, Bool, Int, Double, String, Array, Object };
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : content(value) {}
  template <typename T,
            std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                             int> = 0>
  Json(T value) : content(static_cast<int64_t>(value)) {}
  Json(double value) : content(value) {}
  Json(std::string value) : content(std::move(value)) {}
  Json(std::string_view value) : content(std::string(value)) {}
  Json(const char *value) : content(std::string(value)) {}

  static Json array() { return Json(Content(Array())); }
  static Json object() { return Json(Content(Object())); }
  template <typename T> static Json arrayOf(const std::vector<T> &values) {
    Json result = array();
    for (const T &value : values)
      result.push(Json(value));
    return result;
  }

  Kind kind() const { return static_cast<Kind>(content.index()); }
  bool isNull() const { return kind() == Kind::Null; }
  bool isBool() const { return kind() == Kind::Bool; }
  bool isInt() const { return kind() == Kind::Int; }
  bool isDouble() const { return kind() == Kind::Double; }
  bool isNumber() const { return isInt() || isDouble(); }
  bool isString() const { return kind() == Kind::String; }
  bool isArray() const { return kind() == Kind::Array; }
  bool isObject() const { return kind() == Kind::Object; }

  /// Contents; the caller has checked the kind (asDouble takes both numbers).
  bool asBool() const { return *std::get_if<bool>(&content); }
  int64_t asInt() const { return *std::get_if<int64_t>(&content); }
  double asDouble() const {
    return isInt() ? static_cast<double>(asInt())
                   : *std::get_if<double>(&content);
  }
  const std::string &asString() const {
    return *std::get_if<std::string>(&content);
  }
  std::string &asString() { return *std::get_if<std::string>(&content); }
  const Array &asArray() const { return *std::get_if<Array>(&content); }
  Array &asArray() { return *std::get_if<Array>(&content); }
  const Object &asObject() const { return *std::get_if<Object>(&content); }
  Object &asObject() { return *std::get_if<Object>(&content); }

  /// The member of an object, or null when it is absent or this is no object.
  const Json *find(std::string_view name) const;
  /// Replaces the member or adds it at the end; this must be an object.
  Json &set(std::string_view name, Json value);
  /// Adds an element; this must be an array.
  Json &push(Json value);

  /// The line it stood on in the file, from 1; 0 for a value made in memory.
  int line() const { return lineNumber; }
  void setLine(int line) { lineNumber = line; }

  /// Equal kinds and contents; the order of an object's members counts.
  bool operator==(const Json &other) const;
  bool operator!=(const Json &other) const { return !(*this == other); }

  /// JSON text on one line. Numbers use the shortest form that reads back to
  /// the same value; numbers that are not finite become null; malformed UTF-8
  /// becomes U+FFFD.
  std::string compact() const;
  /// JSON text indented by two spaces, with a newline at the end.
  std::string pretty() const;

private:
  using Content = std::variant<std::monostate, bool, int64_t, double,
                               std::string, Array, Object>;
  explicit Json(Content value) : content(std::move(value)) {}

  Content content;
  int lineNumber = 0;
};

struct JsonMember {
  std::string name;
  Json value;
};

/// Texts by name, in order.
using StringMap = std::vector<std::pair<std::string, std::string>>;

/// Limits above which the reader rejects its input.
struct JsonLimits {
  int maxDepth = 128;
  /// Bytes of text.
  int64_t maxBytes = int64_t(1) << 30;
  /// Values of all kinds: bounds memory for input like [0,0,0,...].
  int64_t maxValues = int64_t(1) << 24;
};

/// Reads one JSON value; `file` is only for messages.
Expected<Json> parseJson(std::string_view text, const std::string &file,
                         const JsonLimits &limits = {});
Expected<Json> readJsonFile(const std::string &path,
                            const JsonLimits &limits = {});

/// Appends `text` as a JSON string, with its quotes.
void appendJsonString(std::string &out, std::string_view text);

/// A value together with its file and field path: typed access whose errors say
/// `config.json:12: field 'rope_scaling.factor': expects ..., but got ...`.
/// Keeps a pointer to the value: the document must outlive it.
class JsonCursor {
public:
  JsonCursor(const Json &root, std::string file,
             ExitCode code = ExitCode::Input);

  const Json &value() const { return *json; }
  const std::string &path() const { return fieldPath; }
  const std::string &file() const { return *fileName; }
  /// An error at this value.
  Error error(const std::string &message) const;

  /// Member of an object: required, or empty when absent.
  Expected<JsonCursor> get(std::string_view name) const;
  std::optional<JsonCursor> find(std::string_view name) const;
  /// Element of an array whose size the caller knows.
  JsonCursor element(size_t index) const;
  JsonCursor member(size_t index) const;
  /// The value must be an array (an object): its size.
  Expected<size_t> arraySize() const;
  Expected<size_t> objectSize() const;

  Expected<bool> asBool() const;
  Expected<int64_t>
  asInt(int64_t least = std::numeric_limits<int64_t>::min(),
        int64_t most = std::numeric_limits<int64_t>::max()) const;
  /// Takes integers too; the value is finite.
  Expected<double> asDouble() const;
  Expected<std::string> asString() const;
  Expected<std::vector<int64_t>>
  asIntArray(int64_t least = std::numeric_limits<int64_t>::min()) const;

  /// Required members.
  Expected<bool> getBool(std::string_view name) const;
  Expected<int64_t>
  getInt(std::string_view name,
         int64_t least = std::numeric_limits<int64_t>::min(),
         int64_t most = std::numeric_limits<int64_t>::max()) const;
  Expected<double> getDouble(std::string_view name) const;
  Expected<std::string> getString(std::string_view name) const;
  Expected<std::vector<int64_t>>
  getIntArray(std::string_view name,
              int64_t least = std::numeric_limits<int64_t>::min()) const;

private:
  JsonCursor(const Json &value, const JsonCursor &parent, std::string path);
  Error mismatch(const std::string &expected) const;

  const Json *json;
  std::shared_ptr<const std::string> fileName;
  std::string fieldPath;
  ExitCode code;
};

} // namespace weft

#endif // WEFT_FORMATS_JSON_H
