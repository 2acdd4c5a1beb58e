//===- TokenizeRun.cpp - Text to token numbers and back -------------------===//

#include "TokenizeRun.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/StandardStreams.h"

#include <charconv>

using namespace weft;

static constexpr int64_t kMostBytes = int64_t(1) << 31;

/// Writes text to a file that appears whole, or keeps it for finish().
Status TokenizeRun::put(std::string_view text) {
  if (textFile && !isStream)
    return textFile->write(text);
  return held.add(textFile ? std::string(text) : forTerminal(text));
}

/// Everything has been encoded or decoded: the output may begin.
Status TokenizeRun::finish() {
  if (tokens && tokens->size() == 0)
    return inputError("expects text, but got none").at(input);
  if (tokens)
    return tokens->commit();
  Status released = held.release([&](std::string_view text) {
    if (textFile)
      return textFile->write(text);
    printText(text);
    return Status::success();
  });
  return released && textFile ? textFile->commit() : std::move(released);
}

Status TokenizeRun::printIds(const int32_t *ids, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (isLineBegun)
      text += ' ';
    text += std::to_string(ids[i]);
    isLineBegun = true;
  }
  return put(text);
}

Status TokenizeRun::encodeDocument(std::string_view text) {
  EncodeOptions options;
  options.addsSpecialTokens = flags.getSwitch("add-special");
  options.findsSpecialTokens = flags.getSwitch("parse-special");
  isLineBegun = false;
  Status status = tokenizer.encode(
      text, options,
      [&](const int32_t *ids, size_t count) {
        return tokens ? tokens->add(ids, count) : printIds(ids, count);
      },
      &losses);
  if (!status)
    return Error(status.takeError()).at(input);
  return tokens ? Status::success() : put("\n");
}

void TokenizeRun::warnOfLosses() const {
  if (losses.malformed > 0)
    warn(concat(input, ": ", losses.malformed,
                " malformed parts of UTF-8 became U+FFFD"));
  if (losses.unencodable > 0)
    warn(concat(input, ": ", losses.unencodable,
                " characters have no token and are left out"));
}

/// Text is one document, or one for each line.
Status TokenizeRun::encodeText(std::string_view text) {
  if (!flags.getSwitch("lines"))
    return encodeDocument(text);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (Status status = encodeDocument(line); !status)
      return status;
  }
  return Status::success();
}

/// Reads the input as `weft train --data` reads a file.
Expected<DocumentReader> TokenizeRun::openDocuments() const {
  const std::string &name = flags.getString("format");
  const DocumentForm form = name == "text"    ? DocumentForm::Text
                            : name == "jsonl" ? DocumentForm::JsonLines
                                              : DocumentForm::Auto;
  return isFile ? DocumentReader::open(input, form)
                : DocumentReader::ofBytes(piped, input, form);
}

Status TokenizeRun::encodeDocuments() {
  Expected<DocumentReader> documents = openDocuments();
  if (!documents)
    return documents.takeError();
  if (!documents->hasLines()) {
    Expected<std::optional<std::string>> text = documents->next();
    if (!text)
      return text.takeError();
    return encodeText(text->value_or(""));
  }
  if (flags.getSwitch("lines"))
    return usageError("--lines expects text, but got JSON lines")
        .at(input)
        .hint("leave it out: each line has a document in its field 'text'; "
              "--format=text reads the lines as they are");
  while (true) {
    Expected<std::optional<std::string>> document = documents->next();
    if (!document)
      return document.takeError();
    if (!*document)
      return Status::success();
    if (Status status = encodeDocument(**document); !status)
      return status;
  }
}

Status TokenizeRun::encode() {
  if (isFile && isTokenFile(input))
    return inputError("expects text, but got a file of tokens")
        .at(input)
        .hint("--decode prints the text of tokens");
  if (flags.isSet("output"))
    tokens.emplace(flags.getString("output"), tokenizer.vocabularySize());
  if (!isFile)
    if (Status status = assign(readStandardInput(kMostBytes), piped); !status)
      return status;
  if (Status status = encodeDocuments(); !status)
    return status;
  warnOfLosses();
  return finish();
}

/// The ids of one document, which are the numbers of a line.
Expected<std::vector<int32_t>> TokenizeRun::readIds(std::string_view line,
                                                    int number) const {
  constexpr std::string_view spaces = " \t\r";
  const int64_t most = tokenizer.vocabularySize() - 1;
  std::vector<int32_t> ids;
  for (size_t at = line.find_first_not_of(spaces); at != line.npos;) {
    const size_t end = std::min(line.find_first_of(spaces, at), line.size());
    const std::string_view word = line.substr(at, end - at);
    int64_t id = 0;
    const auto read =
        std::from_chars(word.data(), word.data() + word.size(), id);
    const bool isNumber = read.ptr == word.data() + word.size();
    if (!isNumber)
      return inputError("expects token numbers, but got ", inQuotes(word),
                        " at column ", at + 1)
          .at(input, number)
          .hint("without --decode, weft tokenize reads text");
    if (read.ec != std::errc() || id < 0 || id > most ||
        !tokenizer.tokenText(int32_t(id)))
      return inputError("expects token numbers from 0 to ", most, ", but got ",
                        word, " at column ", at + 1)
          .at(input, number)
          .hint("--tokenizer names the tokenizer that made the numbers");
    ids.push_back(int32_t(id));
    at = line.find_first_not_of(spaces, end);
  }
  return ids;
}

Status TokenizeRun::putDecoded(StreamDecoder &decoder, const int32_t *ids,
                               int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Expected<std::string> text = decoder.add(ids[i]);
    if (!text)
      return text.takeError().at(input);
    if (Status status = put(*text); !status)
      return status;
  }
  return Status::success();
}

Status TokenizeRun::putLast(StreamDecoder &decoder, const char *end) {
  Expected<std::string> last = decoder.finish();
  if (!last)
    return last.takeError().at(input);
  return put(*last + end);
}

Status TokenizeRun::decodeIds(const std::vector<int32_t> &ids) {
  StreamDecoder decoder(tokenizer, flags.getSwitch("skip-special"));
  if (Status s = putDecoded(decoder, ids.data(), int64_t(ids.size())); !s)
    return s;
  return putLast(decoder, "\n");
}

/// Decodes a document for each line.
Status TokenizeRun::decodeLines() {
  Expected<std::string> text =
      isFile ? readFile(input, kMostBytes) : readStandardInput(kMostBytes);
  if (!text)
    return text.takeError();
  std::string_view rest = *text;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    Expected<std::vector<int32_t>> ids = readIds(rest.substr(0, end), number);
    if (!ids)
      return ids.takeError();
    if (Status s = decodeIds(*ids); !s)
      return s;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Status::success();
}

Status TokenizeRun::decodeTokens(TokenFile &file) {
  StreamDecoder decoder(tokenizer, flags.getSwitch("skip-special"));
  std::vector<int32_t> ids(4096);
  for (int64_t at = 0; at < file.size(); at += int64_t(ids.size())) {
    const int64_t count = std::min(int64_t(ids.size()), file.size() - at);
    if (Status status = file.read(at, count, ids.data()); !status)
      return status;
    if (Status status = putDecoded(decoder, ids.data(), count); !status)
      return status;
  }
  return putLast(decoder, "");
}

Status TokenizeRun::decode() {
  if (flags.isSet("output")) {
    const std::string &path = flags.getString("output");
    isStream = isWrittenInPlace(path);
    if (Status s = assign(OutputFile::create(path), textFile); !s)
      return s;
  }
  if (isFile && isTokenFile(input)) {
    Expected<TokenFile> file = TokenFile::open(input, TokenFormat::Auto);
    if (!file)
      return file.takeError();
    if (Status s = file->check(tokenizer.vocabularySize()); !s)
      return s;
    if (Status status = decodeTokens(*file); !status)
      return status;
  } else if (Status s = decodeLines(); !s) {
    return s;
  }
  return finish();
}
