//===- FileKind.cpp - Kinds of files and forms of text --------------------===//

#include "weft/Formats/FileKind.h"

#include "JsonScanner.h"
#include "weft/Base/Flags.h"
#include "weft/Base/InputFile.h"

#include <algorithm>
#include <cstring>
#include <string_view>

using namespace weft;

static constexpr int64_t kHeadBytes = 4096;

static constexpr char kSaveTorch[] =
    "save it as safetensors: safetensors.torch.save_file({k: v.clone()."
    "contiguous() for k, v in torch.load(FILE, weights_only=True).items()}, "
    "'model.safetensors')";
static constexpr char kUseTokens[] =
    "it is ready for --data and --val-data; weft tokenize FILE --decode "
    "--tokenizer=PATH prints its text";
static constexpr char kUnpack[] = "unpack it first";
static constexpr char kWriteColumn[] = "write its text column to a text file";
static constexpr char kNoDownload[] =
    "the download went wrong, maybe for want of a login";

namespace {
struct Magic {
  std::string_view bytes;
  FileKind kind;
};
} // namespace

/// Files that begin with fixed bytes.
static const Magic kMagics[] = {
    {"GGUF",
     {"a GGUF file (llama.cpp)",
      "it holds a model: weft compile FILE, or --init-from FILE for its "
      "weights",
      false, false, false, /*isGguf=*/true}},
    {"\x93NUMPY",
     {"a NumPy array", "save it with safetensors.numpy.save_file"}},
    {"\x89HDF",
     {"an HDF5 file", "save its tensors with safetensors.numpy.save_file"}},
    {"\x88\xd8\x34\x01", {"a file of tokens", kUseTokens}},
    {"\xa1\xd9\x34\x01", {"a file of tokens", kUseTokens}},
    {"PAR1", {"a Parquet file", kWriteColumn}},
    {"\x1f\x8b\x08", {"a gzip archive", kUnpack}},
    {"\x28\xb5\x2f\xfd", {"a zstd archive", kUnpack}},
    {"\xfd"
     "7zXZ",
     {"an xz archive", kUnpack}},
    {"BZh91AY&SY", {"a bzip2 archive", kUnpack}},
    {"7z\xbc\xaf", {"a 7z archive", kUnpack}},
    {std::string_view("ARROW1\0\0", 8), {"an Arrow file", kWriteColumn}},
    {"SQLite format 3", {"an SQLite database", kWriteColumn}},
    {"%PDF-", {"a PDF file", "pdftotext makes text of it"}},
    {"\x7f"
     "ELF",
     {"a program", "", false, false, false, false, /*isProgram=*/true}},
    {"version https://git-lfs",
     {"a Git LFS pointer, not the file itself", "`git lfs pull` fetches it"}},
    {"<!DOCTYPE", {"an HTML page", kNoDownload, /*isText=*/true}},
    {"<html", {"an HTML page", kNoDownload, /*isText=*/true}},
};

/// A zip archive, of which PyTorch's files are some, or an older pickle.
static FileKind guessTorch(std::string_view head) {
  if (head.substr(0, 4) == std::string_view("PK\3\4", 4)) {
    if (head.find("data.pkl") != head.npos)
      return {"a PyTorch file (zip)", kSaveTorch, false, false, true};
    return {"a zip archive", kUnpack};
  }
  // PROTO and a version, at the start of a pickled dictionary.
  if (head.size() > 3 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return {"a Python pickle, as old PyTorch files are", kSaveTorch, false,
            false, true};
  return {};
}

/// A length of 8 bytes, then JSON.
static bool isSafetensors(std::string_view head) {
  uint64_t length = 0;
  if (head.size() < 10)
    return false;
  std::memcpy(&length, head.data(), sizeof length);
  return length >= 2 && length < (uint64_t(1) << 32) && head[8] == '{' &&
         (head[9] == '"' || head[9] == '}');
}

static bool isText(std::string_view head, bool isWhole) {
  for (size_t length; !head.empty(); head.remove_prefix(length)) {
    length = utf8Length(head);
    if (length == 0)
      return !isWhole && head.size() < 4; // the last letter is cut
    auto first = static_cast<unsigned char>(head[0]);
    if (first < 0x20 && first != '\n' && first != '\r' && first != '\t')
      return false;
  }
  return true;
}

FileKind weft::guessFileKind(const uint8_t *bytes, int64_t size,
                             int64_t wholeSize) {
  std::string_view head(reinterpret_cast<const char *>(bytes),
                        static_cast<size_t>(std::min(size, kHeadBytes)));
  for (const Magic &magic : kMagics)
    if (head.substr(0, magic.bytes.size()) == magic.bytes)
      return magic.kind;
  if (FileKind torch = guessTorch(head); torch.isKnown())
    return torch;
  if (isSafetensors(head))
    return {"a safetensors file", "", false, true};
  if (!head.empty() && isText(head, wholeSize == int64_t(head.size())))
    return {"text", "", true};
  return {};
}

FileKind weft::guessFileKind(const std::string &path) {
  auto file = InputFile::open(path);
  uint8_t head[kHeadBytes];
  const int64_t size = file ? std::min(kHeadBytes, (*file)->size()) : 0;
  if (!file || !(*file)->read(0, size, head))
    return {};
  return guessFileKind(head, size, (*file)->size());
}

//===----------------------------------------------------------------------===//
// Forms of text: JSON
//===----------------------------------------------------------------------===//

static TextForm guessJson(std::string_view head, bool isWhole) {
  JsonScanner scanner(head);
  int64_t values = 0;
  while (!scanner.isAtEnd()) {
    const JsonScanner::Result result = scanner.scanValue();
    if (result == JsonScanner::Result::Wrong ||
        (result == JsonScanner::Result::Cut && isWhole))
      return TextForm::Plain;
    ++values;
    if (result == JsonScanner::Result::Cut)
      break;
  }
  return values == 0   ? TextForm::Plain
         : values == 1 ? TextForm::Json
                       : TextForm::JsonLines;
}

//===----------------------------------------------------------------------===//
// Wide letters
//===----------------------------------------------------------------------===//

/// Whether a byte of ASCII text stands in each unit of `width` bytes at
/// `place`, and nearly all others are null.
static bool hasWideLetters(std::string_view head, size_t width, size_t place) {
  const size_t units = head.size() / width;
  size_t nulls = 0;
  for (size_t i = 0; i < units * width; ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (i % width != place)
      nulls += c == 0;
    else if (c == 0 || (c < 0x20 && c != '\n' && c != '\r' && c != '\t'))
      return false;
  }
  return units >= 16 && nulls * 8 >= units * (width - 1) * 7;
}

static TextForm guessWide(std::string_view head) {
  auto begins = [&](std::string_view mark) {
    return head.substr(0, mark.size()) == mark;
  };
  if (begins(std::string_view("\xff\xfe\0\0", 4)) ||
      begins(std::string_view("\0\0\xfe\xff", 4)) ||
      hasWideLetters(head, 4, 0) || hasWideLetters(head, 4, 3))
    return TextForm::Utf32;
  if (begins("\xff\xfe") || begins("\xfe\xff") || hasWideLetters(head, 2, 0) ||
      hasWideLetters(head, 2, 1))
    return TextForm::Utf16;
  return TextForm::Plain;
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

std::string_view weft::withoutMark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.substr(0, mark.size()) == mark ? text.substr(mark.size()) : text;
}

static TextForm formOfName(std::string_view name) {
  const std::string lower = lowerCase(
      std::string(name.substr(std::min(name.size(), name.rfind('.')))));
  return lower == ".json"                          ? TextForm::Json
         : lower == ".jsonl" || lower == ".ndjson" ? TextForm::JsonLines
         : lower == ".csv"                         ? TextForm::Csv
         : lower == ".tsv"                         ? TextForm::Tsv
                                                   : TextForm::Plain;
}

TextForm weft::guessTextForm(std::string_view head, int64_t wholeSize,
                             std::string_view name) {
  head = head.substr(0, kTextFormBytes);
  const bool isWhole = wholeSize == int64_t(head.size());
  if (TextForm form = guessWide(head); form != TextForm::Plain)
    return form;
  const TextForm named = formOfName(name);
  if (named == TextForm::Csv || named == TextForm::Tsv)
    return named;
  // Files that end in .json often hold JSON lines, and the other way round.
  const TextForm found = guessJson(withoutMark(head), isWhole);
  return found == TextForm::Plain ? named : found;
}

const char *weft::textFormName(TextForm form) {
  switch (form) {
  case TextForm::Plain:
    return "text";
  case TextForm::Json:
    return "a JSON file";
  case TextForm::JsonLines:
    return "JSON lines";
  case TextForm::Csv:
  case TextForm::Tsv:
    return "a table (CSV)";
  case TextForm::Utf16:
    return "UTF-16 text";
  case TextForm::Utf32:
    return "UTF-32 text";
  }
  return "";
}
