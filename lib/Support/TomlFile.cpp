//===- TomlFile.cpp - TOML files with locations ---------------------------===//

#include "weft/Support/TomlFile.h"

#include "weft/Base/OutOfMemory.h"
#include "weft/Base/RunFile.h"
#include "weft/Formats/Digest.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

Location weft::locateToml(MLIRContext *context, StringRef path,
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

FailureOr<TomlFile> weft::readTomlFile(MLIRContext *context, StringRef path,
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
  if (int line = findDeepTomlKey(std::string_view(text)))
    return emitError(FileLineColLoc::get(context, path, line, 1),
                     "expects keys of at most ")
           << kMostTomlKeyParts << " parts";
  toml::parse_result parsed =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!parsed)
    return emitError(locateToml(context, path, parsed.error().source()),
                     "expects TOML, but got: ")
           << std::string(parsed.error().description());
  return TomlFile{std::move(parsed).table(),
                  digest128(text.data(), text.size())};
}

void weft::recordOptionFile(ModuleOp module, StringRef flag, StringRef digest) {
  NamedAttrList files;
  if (auto earlier = module->getAttrOfType<DictionaryAttr>(kOptionFilesAttr))
    files.append(earlier.getValue());
  Builder builder(module.getContext());
  files.set(flag, builder.getStringAttr(digest));
  module->setAttr(kOptionFilesAttr, files.getDictionary(module.getContext()));
}

//===----------------------------------------------------------------------===//
// Regular expressions of bounded cost
//===----------------------------------------------------------------------===//

static constexpr size_t kMostCharacters = 1000;
static constexpr int64_t kMostStates = 5000;

namespace {
/// Adds up the states of an expression in one pass over its text.
class StateCount {
public:
  explicit StateCount(StringRef rest) : rest(rest) {}

  std::optional<std::string> findProblem();

private:
  /// An atom that a repetition behind it may copy.
  void addAtom(int64_t states) {
    last = states;
    groups.back() = std::min(groups.back() + states, kMostStates + 1);
  }
  bool addEscape();
  void addBracket();
  void closeGroup();
  void repeat();

  StringRef rest;
  SmallVector<int64_t> groups = {0}; // states so far, outermost first
  int64_t last = 0;                  // states of the last atom
};
} // namespace

/// False for a reference to an earlier group: matching it can take time that is
/// exponential in the length of the name.
bool StateCount::addEscape() {
  if (rest.size() > 1 && llvm::isDigit(rest[1]))
    return false;
  rest = rest.drop_front(std::min<size_t>(2, rest.size()));
  addAtom(1);
  return true;
}

/// `[...]`: a bracket right behind the start stands for itself, and `[:`, `[.`,
/// `[=` have an end of their own.
void StateCount::addBracket() {
  rest = rest.drop_front(rest.starts_with("[^") ? 2 : 1);
  size_t i = rest.starts_with("]") ? 1 : 0;
  while (i < rest.size() && rest[i] != ']') {
    char kind = i + 1 < rest.size() && rest[i] == '[' ? rest[i + 1] : ' ';
    if (kind != ':' && kind != '.' && kind != '=') {
      ++i;
      continue;
    }
    size_t end = rest.find(std::string{kind, ']'}, i + 2);
    i = end == StringRef::npos ? rest.size() : end + 2;
  }
  rest = rest.drop_front(std::min(i + 1, rest.size()));
  addAtom(1);
}

void StateCount::closeGroup() {
  rest = rest.drop_front();
  if (groups.size() == 1)
    return; // not balanced: for the engine to say
  int64_t states = groups.pop_back_val() + 2;
  addAtom(states);
}

/// `{m}`, `{m,}`, `{m,n}` make copies of the last atom; else a brace is text.
void StateCount::repeat() {
  rest = rest.drop_front();
  if (rest.empty() || !llvm::isDigit(rest[0]))
    return addAtom(1);
  int64_t low = 0, high = 0;
  if (rest.consumeInteger(10, low))
    low = kMostStates;
  high = low;
  if (rest.consume_front(",")) {
    high = low + 1;
    if (!rest.empty() && llvm::isDigit(rest[0]) &&
        rest.consumeInteger(10, high))
      high = kMostStates;
  }
  rest.consume_front("}");
  int64_t copies = std::clamp<int64_t>(std::max(low, high), 1, kMostStates);
  int64_t one = last;
  addAtom(one * (copies - 1)); // both factors are at most kMostStates + 3
  last = one * copies;
}

std::optional<std::string> StateCount::findProblem() {
  while (!rest.empty() && groups.back() <= kMostStates) {
    char c = rest[0];
    if (c == '\\') {
      if (!addEscape())
        return "a reference to an earlier group is not supported";
    } else if (c == '[') {
      addBracket();
    } else if (c == '(') {
      groups.push_back(0);
      rest = rest.drop_front();
    } else if (c == ')') {
      closeGroup();
    } else if (c == '{') {
      repeat();
    } else {
      rest = rest.drop_front();
      addAtom(1);
    }
  }
  if (groups.back() <= kMostStates)
    return std::nullopt;
  return "with its repetitions written out it has more than " +
         std::to_string(kMostStates) + " states";
}

/// The problem of a POSIX extended regular expression, or nothing. Besides the
/// syntax, it limits the size with all repetitions written out: the engine
/// copies repeated parts, so `((a{255}){255}){255}` would take minutes.
static std::optional<std::string> findPatternProblem(StringRef text) {
  if (text.size() > kMostCharacters)
    return "it has more than " + std::to_string(kMostCharacters) +
           " characters";
  if (std::optional<std::string> problem = StateCount(text).findProblem())
    return problem;
  std::string problem;
  if (!llvm::Regex(text).isValid(problem))
    return problem;
  return std::nullopt;
}

InFlightDiagnostic TomlReader::reportNone(const Twine &expected) const {
  return emitError(FileLineColLoc::get(context, path, 1, 1),
                   "expects " + expected + ", but got none");
}

LogicalResult TomlReader::readPattern(StringRef key, const toml::node &value,
                                      std::string &target) const {
  std::optional<std::string> text = value.value_exact<std::string>();
  if (!text || text->empty())
    return report(value, "expects `")
           << key << "` to be a string with text, but got "
           << (text ? "an empty one" : "another type");
  if (std::optional<std::string> problem = findPatternProblem(*text))
    return report(value, "expects `")
           << key << "` to be a regular expression, but got \""
           << StringRef(*text).take_front(100) << "\": " << *problem;
  target = *text;
  return success();
}

std::string weft::describeToml(const toml::node &value) {
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
