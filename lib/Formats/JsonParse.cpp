//===- JsonParse.cpp - JSON reader ----------------------------------------===//
//
// nlohmann's SAX parser does the lexing (it keeps its state on the heap, so
// deep input cannot overflow the stack); the handler here builds our values and
// refuses what its own document type would accept.
//
//===----------------------------------------------------------------------===//

#include "weft/Base/InputFile.h"
#include "weft/Formats/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace weft;

namespace {

/// Tells the handler how far the lexer has read: SAX events carry no position.
struct Progress {
  const char *position = nullptr;
};

struct TrackingIterator {
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *at = nullptr;
  Progress *progress = nullptr;

  reference operator*() const { return *at; }
  TrackingIterator &operator++() {
    progress->position = ++at;
    return *this;
  }
  bool operator!=(const TrackingIterator &other) const {
    return at != other.at;
  }
};

class Handler : public nlohmann::json_sax<nlohmann::json> {
public:
  Handler(std::string_view text, const std::string &file,
          const JsonLimits &limits, Progress &progress)
      : file(file), limits(limits), progress(progress), counted(text.data()) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override {
    return add(Json(value), /*isNumber=*/true);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<uint64_t>(INT64_MAX))
      return add(Json(static_cast<double>(value)), /*isNumber=*/true);
    return add(Json(value), /*isNumber=*/true);
  }
  bool number_float(number_float_t value, const string_t &) override {
    return add(Json(value), /*isNumber=*/true);
  }
  bool string(string_t &value) override { return add(Json(std::move(value))); }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool end_object() override;
  bool key(string_t &name) override {
    stack.back()->asObject().push_back({std::move(name), Json()});
    stack.back()->asObject().back().value.setLine(currentLine(false));
    return true;
  }
  bool parse_error(std::size_t position, const std::string &token,
                   const nlohmann::detail::exception &error) override;

  Json root;
  std::optional<Error> failure;

private:
  int currentLine(bool isNumber);
  bool fail(const std::string &message, int line) {
    failure = inputError(message).at(file, line);
    return false;
  }
  Json *place(Json value, bool isNumber);
  bool add(Json value, bool isNumber = false) {
    return place(std::move(value), isNumber) != nullptr;
  }
  bool open(Json container);
  bool close() {
    stack.pop_back();
    return true;
  }

  const std::string &file;
  const JsonLimits &limits;
  Progress &progress;
  const char *counted;
  int line = 1;
  int64_t values = 0;
  /// Open containers. The addresses stay: only the innermost one grows, and
  /// its elements are not on the stack while it does.
  std::vector<Json *> stack;
};

} // namespace

int Handler::currentLine(bool isNumber) {
  // The lexer has read one byte past a number to see its end.
  const char *end = progress.position ? progress.position : counted;
  if (isNumber && end > counted && (end[-1] == '\n'))
    --end;
  if (end > counted) {
    line += static_cast<int>(std::count(counted, end, '\n'));
    counted = end;
  }
  return line;
}

Json *Handler::place(Json value, bool isNumber) {
  int at = currentLine(isNumber);
  if (++values > limits.maxValues) {
    fail("expects at most " + std::to_string(limits.maxValues) +
             " JSON values, but got more",
         at);
    return nullptr;
  }
  value.setLine(at);
  if (stack.empty()) {
    root = std::move(value);
    return &root;
  }
  if (stack.back()->isArray())
    return &stack.back()->push(std::move(value));
  Json &slot = stack.back()->asObject().back().value;
  return &(slot = std::move(value));
}

bool Handler::open(Json container) {
  if (static_cast<int>(stack.size()) >= limits.maxDepth)
    return fail("expects JSON nested at most " +
                    std::to_string(limits.maxDepth) +
                    " levels deep, but got more",
                currentLine(false));
  Json *opened = place(std::move(container), false);
  if (opened)
    stack.push_back(opened);
  return opened != nullptr;
}

bool Handler::end_object() {
  // Sorting names at the end is cheaper than a set for every object.
  const Json::Object &members = stack.back()->asObject();
  std::vector<const JsonMember *> sorted;
  sorted.reserve(members.size());
  for (const JsonMember &member : members)
    sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [](const JsonMember *a, const JsonMember *b) {
              int order = a->name.compare(b->name);
              return order ? order < 0 : a < b;
            });
  auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                  [](const JsonMember *a, const JsonMember *b) {
                                    return a->name == b->name;
                                  });
  if (twice != sorted.end())
    return fail("field " + inQuotes((*twice)->name) +
                    " appears twice; it stood first on line " +
                    std::to_string((*twice)->value.line()),
                twice[1]->value.line());
  return close();
}

bool Handler::parse_error(std::size_t, const std::string &,
                          const nlohmann::detail::exception &error) {
  int at = currentLine(false);
  // "[json.exception...] parse error at line 1, column 2: syntax error while
  // parsing value - invalid literal; last read: 'x'": keep the last part.
  std::string_view text = error.what();
  size_t start = text.find("syntax error ");
  if (start == text.npos)
    start = text.find("] ") == text.npos ? 0 : text.find("] ") + 2;
  return fail("malformed JSON: " + printable(text.substr(start), 300), at);
}

Expected<Json> weft::parseJson(std::string_view text, const std::string &file,
                               const JsonLimits &limits) {
  if (static_cast<int64_t>(text.size()) > limits.maxBytes)
    return inputError("expects at most " + exactBytes(limits.maxBytes) +
                      " of JSON, but got " + exactBytes(int64_t(text.size())))
        .at(file);
  // The lexer takes a NUL byte for the end; JSON has none.
  if (size_t nul = text.find('\0'); nul != text.npos)
    return inputError("malformed JSON: expects text, but got a NUL byte")
        .at(file, 1 + static_cast<int>(
                          std::count(text.begin(), text.begin() + nul, '\n')));
  Progress progress;
  Handler handler(text, file, limits, progress);
  TrackingIterator begin{text.data(), &progress};
  TrackingIterator end{text.data() + text.size(), &progress};
  bool ok = nlohmann::json::sax_parse(begin, end, &handler);
  if (handler.failure)
    return std::move(*handler.failure);
  if (!ok)
    return inputError("malformed JSON").at(file);
  return std::move(handler.root);
}

Expected<Json> weft::readJsonFile(const std::string &path,
                                  const JsonLimits &limits) {
  auto text = readFile(path, limits.maxBytes);
  if (!text)
    return text.takeError();
  return parseJson(*text, path, limits);
}
