//===- FileKind.h - Files that are not read as they are ---------*- C++ -*-===//
//
// Kinds of files that people hand over by mistake, and forms of text. JSON,
// JSON lines and CSV are text, but a model trained on their bytes learns quotes
// and braces. UTF-16 and UTF-32 are text to an editor, but every second byte is
// null.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_FILEKIND_H
#define WEFT_FORMATS_FILEKIND_H

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// A kind of file that people hand over by mistake.
struct FileKind {
  const char *name = ""; // "a PyTorch pickle"; "" if nothing is known of it
  const char *hint = ""; // how to get what weft reads
  bool isText = false;   // may well be meant as text to train on
  bool isSafetensors = false;
  bool isTorch = false;
  bool isGguf = false;
  bool isProgram = false;

  bool isKnown() const { return *name != 0; }
};

/// The kind that the first bytes of a file of `wholeSize` bytes indicate; 4 KiB
/// of them are enough.
FileKind guessFileKind(const uint8_t *bytes, int64_t size, int64_t wholeSize);
/// The same of a file on disk; unknown if it cannot be read.
FileKind guessFileKind(const std::string &path);

enum class TextForm { Plain, Json, JsonLines, Csv, Tsv, Utf16, Utf32 };

/// Bytes of a file that guessTextForm() looks at.
constexpr int64_t kTextFormBytes = 64 << 10;

/// By the first bytes `head` of a file of `wholeSize` bytes, or by the ending
/// of the name (.json, .jsonl, .ndjson, .csv, .tsv). They are JSON if nothing
/// in them contradicts it and the first letter is a brace or a bracket. CSV is
/// known by its name alone: a text may have commas.
TextForm guessTextForm(std::string_view head, int64_t wholeSize,
                       std::string_view name);

/// "a JSON file"
const char *textFormName(TextForm form);

/// The text behind a byte-order mark of UTF-8, if it has one.
std::string_view withoutMark(std::string_view text);

/// A command that makes plain text of the file `path`: of a field with a usual
/// name, such as `text`, or of the only one that holds texts. Else the command
/// has FIELD in its place, and the fields follow. "" where no command of one
/// line does.
std::string textCommand(TextForm form, std::string_view head,
                        const std::string &path);

/// A path as a word of a shell command.
std::string shellWord(const std::string &path);

} // namespace weft

#endif // WEFT_FORMATS_FILEKIND_H
