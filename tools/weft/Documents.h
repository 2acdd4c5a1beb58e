//===- Documents.h - Texts of files, one after another ----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_DOCUMENTS_H
#define WEFT_TOOLS_WEFT_DOCUMENTS_H

#include "weft/Base/InputFile.h"
#include "weft/Base/OutputFile.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// How documents are found. Auto: by the first bytes and the name of the file.
enum class DocumentForm { Auto, Text, JsonLines };

/// The documents of one file. A file of JSON lines has one in the field `text`
/// of each line. Any other file is one document.
class DocumentReader {
public:
  static Expected<DocumentReader> open(const std::string &path,
                                       DocumentForm form = DocumentForm::Auto);
  /// Reads bytes, which must outlive it. They have no name that tells their
  /// form: a single line of JSON is JSON lines.
  static Expected<DocumentReader>
  ofBytes(std::string_view bytes, const std::string &name, DocumentForm form);

  /// The next document; nothing at the end of the file.
  Expected<std::optional<std::string>> next();
  /// Whether the file has JSON lines.
  bool hasLines() const { return isLines; }
  /// The next line of such a file that is not blank, and its number.
  Expected<std::optional<std::string>> nextLine();
  int line() const { return lineNumber; }
  /// Bytes of the file that were read.
  int64_t position() const { return at; }

private:
  static Expected<DocumentReader> of(std::unique_ptr<ByteSource> file,
                                     bool isNamed, DocumentForm form);
  Status findForm();
  Expected<std::optional<std::string>> readWhole();
  Status readMore();

  std::unique_ptr<ByteSource> file;
  bool isNamed = true;   // the name may tell the form
  bool isForced = false; // the caller has told it
  bool isLines = false;
  int64_t at = 0; // behind the documents that were read
  int lineNumber = 0;
  std::string ahead; // its bytes from `begin` on are the ones behind `at`
  size_t begin = 0;
};

/// Where a line stops being JSON, as a column from 1; nothing if it is JSON.
std::optional<size_t> malformedColumn(std::string_view line);

/// Files of text that are read with one weight.
struct TextGroup {
  std::string spelling; // as it was given
  std::vector<std::string> files;
  double weight = 0.0; // 0: none was given
};

/// Reads texts such as `a.jsonl,b.txt` or `a.jsonl:0.7,b/*.jsonl:0.3`: files
/// and globs, all with weights or none. A name that is a file as it stands is
/// that file.
Expected<std::vector<TextGroup>>
parseTextGroups(const std::vector<std::string> &texts);

/// All files of groups, with `role` for messages.
std::vector<FileUse> filesOf(const std::vector<TextGroup> &groups,
                             const std::string &role);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DOCUMENTS_H
