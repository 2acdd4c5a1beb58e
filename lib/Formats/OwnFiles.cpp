//===- OwnFiles.cpp - Outputs replace only what weft wrote ----------------===//

#include "weft/Formats/OwnFiles.h"

#include "weft/Base/InputFile.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Safetensors.h"
#include "weft/Formats/TokenFile.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <limits>
#include <optional>
#include <sys/stat.h>

using namespace weft;

static constexpr std::string_view kSeal = " weft: xxh3 ";
static constexpr size_t kDigestLetters = 32;
/// The end of a comment in HTML.
static constexpr std::string_view kHtmlClose = " -->";

std::string weft::sealText(std::string text, std::string_view comment,
                           std::string_view close) {
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  const std::string digest = digest128(text);
  return text + std::string(comment) + std::string(kSeal) + digest +
         std::string(close) + "\n";
}

/// Whether the last line has the digest of the others; nothing where no line
/// has one.
static std::optional<bool> checkSeal(std::string_view text) {
  const size_t seal = text.rfind(kSeal);
  if (seal == text.npos)
    return std::nullopt;
  const size_t digest = seal + kSeal.size();
  size_t end = digest + kDigestLetters;
  if (end < text.size() && text.substr(end, kHtmlClose.size()) == kHtmlClose)
    end += kHtmlClose.size();
  const size_t line = text.rfind('\n', seal) + 1; // 0 for the first
  return text.size() == end + 1 && text[end] == '\n' &&
         digest128(text.substr(0, line)) == text.substr(digest, kDigestLetters);
}

static bool begins(std::string_view text, std::string_view front) {
  return text.substr(0, front.size()) == front;
}

/// An ELF file with a section whose name begins with `.weft.`.
static bool hasOwnSection(ByteSource &file) {
  Elf64_Ehdr header;
  if (!file.read(0, sizeof header, &header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum)
    return false;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  const int64_t bytes = int64_t(sections.size() * sizeof(Elf64_Shdr));
  if (!file.read(int64_t(header.e_shoff), bytes, sections.data()))
    return false;
  const Elf64_Shdr &names = sections[header.e_shstrndx];
  return std::any_of(
      sections.begin(), sections.end(), [&](const Elf64_Shdr &section) {
        char name[6];
        return section.sh_name < names.sh_size &&
               file.read(int64_t(names.sh_offset + section.sh_name),
                         sizeof name, name) &&
               std::memcmp(name, ".weft.", sizeof name) == 0;
      });
}

bool weft::hasOwnEntry(const std::string &path) {
  auto file = SafetensorsFile::open(path);
  if (!file)
    return false;
  const StringMap &strings = file->metadata();
  return std::any_of(strings.begin(), strings.end(), [](const auto &entry) {
    return entry.first == writtenByKey;
  });
}

/// JSON that begins as weft's traces, timelines and tuning files do.
static bool isOwnJson(std::string_view text) {
  const std::string_view head = text.substr(0, 512);
  return begins(head,
                "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"model\":") ||
         (begins(head, "{") &&
          (head.find("\"otherData\": {\n    \"weft\": ") != head.npos ||
           (begins(head, "{\n  \"format\": ") &&
            head.find("\n  \"cublaslt\": \"") != head.npos)));
}

/// A reproducer of a pipeline with passes of weft.
static bool isOwnReproducer(std::string_view text) {
  const size_t begin =
      text.find("{-#\n  external_resources: {\n    mlir_reproducer: {");
  return begin != text.npos && text.find("weft-", begin) != text.npos;
}

static FileOrigin originOfText(std::string_view text) {
  if (text.empty() || isOwnJson(text) || isOwnReproducer(text))
    return FileOrigin::Weft;
  std::optional<bool> isIntact = checkSeal(text);
  return !isIntact   ? FileOrigin::Other
         : *isIntact ? FileOrigin::Weft
                     : FileOrigin::Edited;
}

FileOrigin weft::originOf(const std::string &path) {
  auto file = InputFile::open(path);
  if (!file)
    return FileOrigin::Other;
  if (hasOwnSection(**file) || hasOwnEntry(path))
    return FileOrigin::Weft;
  if (std::optional<bool> isIntact = checkTokenDigest(path))
    return *isIntact ? FileOrigin::Weft : FileOrigin::Edited;
  // Text of weft has no null byte; neither do 4 KiB of a large file of others.
  char head[4096];
  const int64_t bytes = std::min<int64_t>(sizeof head, (*file)->size());
  if (!(*file)->read(0, bytes, head) || std::memchr(head, 0, size_t(bytes)))
    return FileOrigin::Other;
  auto text = readFile(path, std::numeric_limits<int64_t>::max());
  return text ? originOfText(*text) : FileOrigin::Other;
}

static Status checkOne(const FileUse &output, bool overwrites) {
  // An edit, which may have lost its seal, is worth more than a flag that a
  // script always gives.
  const bool isDump = output.role == "--dump-dir";
  if (overwrites && !isDump)
    return Status::success();
  const FileOrigin origin = originOf(output.path);
  if (origin == FileOrigin::Weft)
    return Status::success();
  Error error = usageError(
      output.role + " expects a new file, or one that weft wrote, but got " +
      (origin == FileOrigin::Edited ? "one that was edited since"
                                    : "another file"));
  return error.at(output.path)
      .hint(isDump ? "it stays as it is; move it, or choose another --dump-dir"
                   : "it stays as it is; choose another name, or --overwrite "
                     "replaces it");
}

Status weft::checkReplaced(const std::vector<FileUse> &outputs,
                           bool overwrites) {
  for (const FileUse &output : outputs) {
    struct stat info;
    // A run's metrics are looked at line by line when they are begun.
    if (output.path == "-" || output.role == "--metrics" ||
        ::stat(output.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    if (Status status = checkOne(output, overwrites); !status)
      return status;
  }
  return Status::success();
}
