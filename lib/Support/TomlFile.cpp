//===- TomlFile.cpp - TOML files with locations ---------------------------===//

#include "weft/Support/TomlFile.h"

#include "weft/Base/OutOfMemory.h"
#include "weft/Formats/Digest.h"
#include "weft/Support/MatchPattern.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace weft {

Location locateToml(MLIRContext *context, StringRef path,
                    const toml::source_region &source) {
  return FileLineColLoc::get(context, path, source.begin.line,
                             source.begin.column);
}

/// People write these files; a larger one is another file by mistake.
static constexpr uint64_t kMostBytes = uint64_t(1) << 24;

/// The problem of a file before it is opened, or "": reading a pipe would
/// block, and a device may have no end.
static std::string findFileProblem(StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return error.message();
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return "no regular file";
  if (status.getSize() > kMostBytes)
    return std::to_string(status.getSize()) + " bytes, above " +
           std::to_string(kMostBytes);
  return "";
}

/// Limit on the tables that one dotted key may nest. The parser limits the
/// nesting of values, but descends into tables of keys without a limit.
static constexpr int kMostKeyParts = 256;

/// Without strings and comments: nothing in them is part of a key.
static std::string stripLine(StringRef line) {
  std::string rest;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '"' && c == '\\')
      ++i;
    else if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '#')
      break;
    else
      rest += c;
  }
  return rest;
}

/// The line of a key of more parts, or 0.
static int findDeepKey(StringRef text) {
  for (int number = 1; !text.empty(); ++number) {
    auto [line, others] = text.split('\n');
    text = others;
    int dots = 0;
    for (char c : stripLine(line)) {
      if (StringRef("=,{}[]").contains(c))
        dots = 0;
      else if (c == '.' && ++dots >= kMostKeyParts)
        return number;
    }
  }
  return 0;
}

FailureOr<TomlFile> readTomlFile(MLIRContext *context, StringRef path,
                                 StringRef what) {
  if (std::string problem = findFileProblem(path); !problem.empty())
    return emitError(FileLineColLoc::get(context, path, 0, 0),
                     "expects a readable ")
           << what << ", but got: " << problem;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (file.getError() == std::errc::not_enough_memory)
    endWithoutMemory();
  if (!file)
    return emitError(FileLineColLoc::get(context, path, 0, 0),
                     "expects a readable ")
           << what << ", but got: " << file.getError().message();
  StringRef text = (*file)->getBuffer();
  if (int line = findDeepKey(text))
    return emitError(FileLineColLoc::get(context, path, line, 1),
                     "expects keys of at most ")
           << kMostKeyParts << " parts";
  toml::parse_result parsed =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!parsed)
    return emitError(locateToml(context, path, parsed.error().source()),
                     "expects TOML, but got: ")
           << std::string(parsed.error().description());
  return TomlFile{std::move(parsed).table(),
                  digest128(text.data(), text.size())};
}

void recordOptionFile(ModuleOp module, StringRef flag, StringRef digest) {
  NamedAttrList files;
  if (auto earlier = module->getAttrOfType<DictionaryAttr>(kOptionFilesAttr))
    files.append(earlier.getValue());
  Builder builder(module.getContext());
  files.set(flag, builder.getStringAttr(digest));
  module->setAttr(kOptionFilesAttr, files.getDictionary(module.getContext()));
}

FailureOr<std::string> readTomlPattern(MLIRContext *context, StringRef path,
                                       StringRef key, const toml::node &value) {
  Location location = locateToml(context, path, value.source());
  std::optional<std::string> text = value.value_exact<std::string>();
  if (!text || text->empty())
    return emitError(location, "expects `")
           << key << "` to be a string with text, but got "
           << (text ? "an empty one" : "another type");
  if (std::optional<std::string> problem = findPatternProblem(*text))
    return emitError(location, "expects `")
           << key << "` to be a regular expression, but got \""
           << StringRef(*text).take_front(100) << "\": " << *problem;
  return *text;
}

std::string describeToml(const toml::node &value) {
  if (std::optional<std::string> text = value.value_exact<std::string>())
    return "\"" + *text + "\"";
  switch (value.type()) {
  case toml::node_type::table:
    return "a table";
  case toml::node_type::array:
    return "an array";
  case toml::node_type::boolean:
    return "a boolean";
  case toml::node_type::integer:
  case toml::node_type::floating_point:
    return "a number";
  default:
    return "a date or time";
  }
}

} // namespace weft
