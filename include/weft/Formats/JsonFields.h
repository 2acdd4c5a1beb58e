//===- JsonFields.h - Fields of objects and variables -----------*- C++ -*-===//
//
// One function lists the fields of a structure, for the writer and the reader:
//
//   template <typename Io> void listFields(Io &io, Point &point) {
//     io.field("x", point.x);
//     io.optional("label", point.label);
//   }
//

#ifndef WEFT_FORMATS_JSONFIELDS_H
#define WEFT_FORMATS_JSONFIELDS_H

#include "weft/Base/Results.h"
#include "weft/Formats/Json.h"

#include <map>

namespace weft {

/// Hands each element of an array to `read`, until it fails.
template <typename Read>
Status forElements(const JsonCursor &array, const Read &read) {
  auto size = array.arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i)
    if (Status s = read(array.element(i)); !s)
      return s;
  return Status::success();
}

/// The same for an object: the name of each member, and its value.
template <typename Read>
Status forMembers(const JsonCursor &object, const Read &read) {
  auto size = object.objectSize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i)
    if (Status s = read(object.value().asObject()[i].name, object.member(i));
        !s)
      return s;
  return Status::success();
}

/// The same for a field that may be absent.
template <typename Read>
Status readElements(const JsonCursor &root, const char *name, Read read) {
  auto field = root.find(name);
  return field ? forElements(*field, read) : Status::success();
}
template <typename Read>
Status readMembers(const JsonCursor &root, const char *name, Read read) {
  auto field = root.find(name);
  return field ? forMembers(*field, read) : Status::success();
}

/// Adds the members of an object to `out`: all are strings.
inline Status readStrings(const JsonCursor &object, StringMap &out) {
  return forMembers(
      object, [&](const std::string &name, const JsonCursor &member) -> Status {
        auto text = member.asString();
        if (!text)
          return text.takeError();
        out.push_back({name, std::move(*text)});
        return Status::success();
      });
}

/// A value, list or structure as JSON.
template <typename T> Json toJson(const T &value);
template <typename T> Json toJson(const std::vector<T> &values);
inline Json toJson(const StringMap &texts) {
  Json result = Json::object();
  for (const auto &[name, text] : texts)
    result.set(name, text);
  return result;
}

/// Writes fields into an object.
class JsonWriter {
public:
  explicit JsonWriter(Json &object) : object(object) {}

  template <typename T, typename... Bounds>
  void field(const char *name, const T &value, Bounds...) {
    object.set(name, toJson(value));
  }
  /// Leaves out what has its default.
  template <typename T, typename... Bounds>
  void optional(const char *name, const T &value, Bounds...) {
    if (!(value == T()))
      field(name, value);
  }
  template <typename T>
  void optional(const char *name, const std::optional<T> &value) {
    if (value)
      field(name, *value);
  }
  template <typename T>
  void convert(const std::optional<T> &, const T &, const std::string &) {}

private:
  Json &object;
};

/// Adds the fields of a structure to an object.
template <typename T> void addFields(Json &object, const T &value) {
  JsonWriter io(object);
  listFields(io, const_cast<T &>(value)); // a writer only reads it
}

template <typename T> Json toJson(const T &value) {
  if constexpr (std::is_constructible_v<Json, const T &>) {
    return value;
  } else {
    Json result = Json::object();
    addFields(result, value);
    return result;
  }
}
template <typename T> Json toJson(const std::vector<T> &values) {
  Json result = Json::array();
  for (const T &value : values)
    result.push(toJson(value));
  return result;
}

/// Reads fields of an object one after the other, until the first error.
class JsonReader {
public:
  explicit JsonReader(JsonCursor at) : at(std::move(at)) {}

  /// A field that must be there; `bounds` limit integers in it.
  template <typename T, typename... Bounds>
  void field(const char *name, T &out, Bounds... bounds) {
    if (failure)
      return;
    auto found = at.get(name);
    if (!found)
      fail(found.takeError());
    else if (Status s = read(*found, out, bounds...); !s)
      fail(s.takeError());
  }
  template <typename T, typename... Bounds>
  void optional(const char *name, T &out, Bounds... bounds) {
    if (at.find(name))
      field(name, out, bounds...);
  }
  template <typename T> void optional(const char *name, std::optional<T> &out) {
    if (at.find(name))
      field(name, out.emplace());
  }
  /// Takes a value that was made of fields; without one, `problem` is an error
  /// of the object.
  template <typename T>
  void convert(std::optional<T> value, T &out, const std::string &problem) {
    if (!failure && !value)
      fail(at.error(problem));
    else if (value)
      out = std::move(*value);
  }
  Status takeStatus() {
    return failure ? Status(std::move(*failure)) : Status::success();
  }
  /// Reads the fields of a structure from an object.
  template <typename T> static Status read(const JsonCursor &from, T &out) {
    JsonReader fields(from);
    listFields(fields, out);
    return fields.takeStatus();
  }

private:
  template <typename... Bounds>
  static Status read(const JsonCursor &from, int64_t &out, Bounds... bounds) {
    return assign(from.asInt(bounds...), out);
  }
  static Status read(const JsonCursor &from, bool &out) {
    return assign(from.asBool(), out);
  }
  static Status read(const JsonCursor &from, double &out) {
    return assign(from.asDouble(), out);
  }
  static Status read(const JsonCursor &from, std::string &out) {
    return assign(from.asString(), out);
  }
  static Status read(const JsonCursor &from, Json &out) {
    out = from.value();
    return Status::success();
  }
  static Status read(const JsonCursor &from, StringMap &out) {
    return readStrings(from, out);
  }
  template <typename T>
  static Status read(const JsonCursor &from, std::map<std::string, T> &out) {
    return forMembers(from,
                      [&](const std::string &name, const JsonCursor &member) {
                        return read(member, out[name]);
                      });
  }
  template <typename... Bounds>
  static Status read(const JsonCursor &from, std::vector<int64_t> &out,
                     Bounds... bounds) {
    return assign(from.asIntArray(bounds...), out);
  }
  template <typename T, typename... Bounds>
  static Status read(const JsonCursor &from, std::vector<T> &out,
                     Bounds... bounds) {
    return forElements(from, [&](const JsonCursor &element) {
      return read(element, out.emplace_back(), bounds...);
    });
  }
  void fail(Error error) { failure = std::move(error); }

  JsonCursor at;
  std::optional<Error> failure;
};

} // namespace weft

#endif // WEFT_FORMATS_JSONFIELDS_H
