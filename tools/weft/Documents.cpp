//===- Documents.cpp - Texts of files, one after another ------------------===//

#include "Documents.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/JsonLines.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace weft;

static constexpr int64_t kMostBytes = int64_t(1) << 31;
static constexpr int64_t kPartBytes = int64_t(1) << 20;

//===----------------------------------------------------------------------===//
// The field of a line
//===----------------------------------------------------------------------===//

namespace {

/// Keeps the field `text` of the outermost object.
class TextFieldHandler : public nlohmann::json_sax<nlohmann::json> {
public:
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t &) override {
    return other();
  }
  bool binary(binary_t &) override { return other(); }
  bool string(string_t &value) override {
    if (depth != 1 || !isText)
      return other();
    isTwice |= content.has_value();
    content = std::move(value);
    return true;
  }
  bool key(string_t &name) override {
    if (depth == 1)
      isText = isObject && name == "text";
    return true;
  }
  bool start_object(std::size_t) override {
    other();
    isObject |= depth == 0;
    ++depth;
    return true;
  }
  bool start_array(std::size_t) override {
    other();
    ++depth;
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    wrongAt = std::max<std::size_t>(position, 1);
    return false;
  }

  std::optional<std::string> content;
  bool isTwice = false, isOther = false, isObject = false;
  std::size_t wrongAt = 0; // from 1

private:
  /// A value that is no text of the field.
  bool other() {
    isOther |= depth == 1 && isObject && isText;
    return true;
  }
  bool close() {
    --depth;
    return true;
  }

  int depth = 0;
  bool isText = false;
};

} // namespace

/// Reads a line; where it is malformed, as malformedColumn().
static std::optional<size_t> parseLine(std::string_view line,
                                       TextFieldHandler &handler) {
  const size_t null = line.find('\0');
  if (null != line.npos)
    return null + 1;
  if (nlohmann::json::sax_parse(line.begin(), line.end(), &handler))
    return std::nullopt;
  return handler.wrongAt;
}

std::optional<size_t> weft::malformedColumn(std::string_view line) {
  TextFieldHandler handler;
  return parseLine(line, handler);
}

/// Says how text that is not JSON is read, by whether a name has told the form.
static const char *textHint(bool isByName) {
  return isByName ? "text that is not JSON has another ending, such as .txt"
                  : "--format=text reads text that is not JSON lines";
}

static Expected<std::string> fieldOfLine(std::string_view line, bool isByName) {
  TextFieldHandler handler;
  const std::optional<size_t> wrong = parseLine(line, handler);
  if (!handler.content && isQuestionLine(line))
    return inputError("expects a document (field 'text') in a line, but got a "
                      "question (field 'choices') at column ",
                      columnOfField(line, "choices"))
        .hint(kQuestionsHint);
  if (wrong)
    return inputError("expects a JSON object in a line, but got malformed JSON "
                      "at column ",
                      *wrong)
        .hint(textHint(isByName));
  const size_t column = columnOfField(line, "text");
  if (!handler.isObject)
    return inputError("expects a JSON object in a line, but got another value "
                      "at column 1");
  if (handler.isTwice)
    return inputError("expects one field 'text', but got two, the first at "
                      "column ",
                      column);
  if (handler.isOther || !handler.content)
    return inputError("expects a text in the field 'text', but got ",
                      handler.isOther ? "another value" : "no such field",
                      " at column ", column);
  return std::move(*handler.content);
}

//===----------------------------------------------------------------------===//
// Documents of a file
//===----------------------------------------------------------------------===//

static bool isNamedLines(const std::string &path) {
  return endsWith(path, ".jsonl") || endsWith(path, ".ndjson");
}

/// Whether the text has one line, which is an object.
static bool isOneObject(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos || text[begin] != '{')
    return false;
  const size_t end = std::min(text.find('\n', begin), text.size());
  return text.find_first_not_of(" \t\r\n", end) == text.npos;
}

/// Finds out whether the bytes are JSON lines; other forms are errors.
Status DocumentReader::findForm() {
  const int64_t size = file->size();
  std::string head(size_t(std::min(kTextFormBytes, size)), '\0');
  if (Status s = file->read(0, int64_t(head.size()), head.data()); !s)
    return s;
  const FileKind kind =
      guessFileKind(reinterpret_cast<const uint8_t *>(head.data()),
                    int64_t(head.size()), size);
  const std::string &path = file->path();
  if (kind.isKnown() && !kind.isText)
    return inputError("expects text or JSON lines, but got ", kind.name)
        .at(path)
        .hint(kind.hint);
  TextForm form = guessTextForm(head, size, isNamed ? path : "");
  // One line alone looks as JSON does.
  if (form == TextForm::Json &&
      (isNamed ? isNamedLines(path) : isOneObject(withoutMark(head))))
    form = TextForm::JsonLines;
  if (form != TextForm::Plain && form != TextForm::JsonLines)
    return inputError("expects text or JSON lines, but got ",
                      textFormName(form))
        .at(path)
        .hint(isNamed                  ? textCommand(form, head, path)
              : form == TextForm::Json ? textHint(isNamed)
                                       : "iconv -f UTF-16 -t UTF-8, or -f "
                                         "UTF-32, makes text of it");
  isLines = form == TextForm::JsonLines;
  return Status::success();
}

Expected<DocumentReader> DocumentReader::of(std::unique_ptr<ByteSource> file,
                                            bool isNamed, DocumentForm form) {
  DocumentReader reader;
  reader.file = std::move(file);
  reader.isNamed = isNamed;
  reader.isLines = reader.isForced = form == DocumentForm::JsonLines;
  if (form == DocumentForm::Auto)
    if (Status s = reader.findForm(); !s)
      return s.takeError();
  return reader;
}

Expected<DocumentReader> DocumentReader::open(const std::string &path,
                                              DocumentForm form) {
  Expected<std::unique_ptr<ByteSource>> file = InputFile::open(path);
  if (!file)
    return file.takeError();
  return of(std::move(*file), /*isNamed=*/true, form);
}

Expected<DocumentReader> DocumentReader::ofBytes(std::string_view bytes,
                                                 const std::string &name,
                                                 DocumentForm form) {
  return of(std::make_unique<MemoryBytes>(
                reinterpret_cast<const uint8_t *>(bytes.data()),
                int64_t(bytes.size()), name),
            /*isNamed=*/false, form);
}

Expected<std::optional<std::string>> DocumentReader::readWhole() {
  const int64_t size = file->size();
  if (at == size)
    return std::optional<std::string>();
  if (size > kMostBytes)
    return inputError("expects at most ", exactBytes(kMostBytes),
                      " for a document, but got ", exactBytes(size))
        .at(file->path())
        .hint("a .jsonl file has a document on each line");
  std::string text(size_t(size), '\0');
  if (Status s = file->read(0, size, text.data()); !s)
    return s.takeError();
  at = size;
  text.erase(0, text.size() - withoutMark(text).size());
  return std::optional(std::move(text));
}

/// Reads more of the file behind the bytes that wait.
Status DocumentReader::readMore() {
  ahead.erase(0, begin);
  begin = 0;
  const int64_t read = at + int64_t(ahead.size());
  const int64_t part = std::min(kPartBytes, file->size() - read);
  if (int64_t(ahead.size()) + part > kMostBytes)
    return inputError("expects at most ", exactBytes(kMostBytes),
                      " for a line, but got more")
        .at(file->path(), lineNumber + 1);
  const size_t before = ahead.size();
  ahead.resize(before + size_t(part));
  return file->read(read, part, &ahead[before]);
}

/// The next line that is not blank.
Expected<std::optional<std::string>> DocumentReader::nextLine() {
  size_t searched = begin;
  while (true) {
    const size_t end = ahead.find('\n', searched);
    const size_t waiting = ahead.size() - begin;
    if (end == ahead.npos && at + int64_t(waiting) < file->size()) {
      if (Status s = readMore(); !s)
        return s.takeError();
      searched = waiting;
      continue;
    }
    if (waiting == 0)
      return std::optional<std::string>();
    const size_t behind = end == ahead.npos ? ahead.size() : end + 1;
    std::string line = ahead.substr(begin, std::min(end, ahead.size()) - begin);
    at += int64_t(behind - begin);
    begin = searched = behind;
    ++lineNumber;
    if (lineNumber == 1)
      line.erase(0, line.size() - withoutMark(line).size());
    if (line.find_first_not_of(" \t\r") != line.npos)
      return std::optional(std::move(line));
  }
}

Expected<std::optional<std::string>> DocumentReader::next() {
  if (!isLines)
    return readWhole();
  Expected<std::optional<std::string>> line = nextLine();
  if (!line || !*line)
    return line;
  Expected<std::string> text = fieldOfLine(**line, isNamed && !isForced);
  if (!text) {
    Error error = text.takeError().at(file->path(), lineNumber);
    return isNamed || !error.hintText().empty() ? error
                                                : error.hint(textHint(isNamed));
  }
  return std::optional(std::move(*text));
}
