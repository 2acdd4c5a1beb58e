//===- FileKind.cpp - What a file is that weft does not read --------------===//

#include "weft/Formats/FileKind.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <sys/stat.h>

namespace weft {

static constexpr int64_t kHeadBytes = 4096;

static constexpr char kSaveTorch[] =
    "save it as safetensors: safetensors.torch.save_file({k: v.clone()."
    "contiguous() for k, v in torch.load(FILE, weights_only=True).items()}, "
    "'model.safetensors')";
static constexpr char kUnpack[] = "unpack it first";

namespace {
struct Magic {
  std::string_view bytes;
  FileKind kind;
};
} // namespace

/// Files that begin with fixed bytes.
static const Magic kMagics[] = {
    {std::string_view("GGUF", 4),
     {"a GGUF file (llama.cpp)",
      "weft trains safetensors: take the model it was converted from", false}},
    {std::string_view("\x93NUMPY", 6),
     {"a NumPy array", "save it with safetensors.numpy.save_file", false}},
    {std::string_view("\x89HDF", 4),
     {"an HDF5 file", "save its tensors with safetensors.numpy.save_file",
      false}},
    {std::string_view("PAR1", 4),
     {"a Parquet file", "write its text column to a text file", false}},
    {std::string_view("\x1f\x8b\x08", 3), {"a gzip archive", kUnpack, false}},
    {std::string_view("\x28\xb5\x2f\xfd", 4),
     {"a zstd archive", kUnpack, false}},
    {std::string_view("\xfd"
                      "7zXZ",
                      5),
     {"an xz archive", kUnpack, false}},
    {std::string_view("BZh91AY&SY", 10), {"a bzip2 archive", kUnpack, false}},
    {std::string_view("7z\xbc\xaf", 4), {"a 7z archive", kUnpack, false}},
    {std::string_view("ARROW1\0\0", 8),
     {"an Arrow file", "write its text column to a text file", false}},
    {std::string_view("SQLite format 3", 15),
     {"an SQLite database", "write its text column to a text file", false}},
    {std::string_view("%PDF-", 5),
     {"a PDF file", "pdftotext makes text of it", false}},
    {std::string_view("\x7f"
                      "ELF",
                      4),
     {"a program", "", false}},
    {std::string_view("version https://git-lfs", 23),
     {"a Git LFS pointer, not the file itself", "`git lfs pull` fetches it",
      false}},
    {std::string_view("<!DOCTYPE", 9),
     {"an HTML page", "the download went wrong, maybe for want of a login",
      true}},
    {std::string_view("<html", 5),
     {"an HTML page", "the download went wrong, maybe for want of a login",
      true}},
};

/// A zip archive, of which PyTorch's files are some, or an older pickle.
static FileKind guessTorch(std::string_view head) {
  if (head.substr(0, 4) == std::string_view("PK\3\4", 4)) {
    if (head.find("data.pkl") != head.npos)
      return {"a PyTorch file (zip)", kSaveTorch, false, false, true};
    return {"a zip archive", kUnpack, false};
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

FileKind guessFileKind(const uint8_t *bytes, int64_t size, int64_t wholeSize) {
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

FileKind guessFileKind(const std::string &path) {
  struct stat info; // to open a pipe would wait for its writer
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return {};
  std::FILE *file = std::fopen(path.c_str(), "rbe");
  if (!file)
    return {};
  uint8_t head[kHeadBytes];
  size_t size = std::fread(head, 1, sizeof head, file);
  std::fclose(file);
  return guessFileKind(head, static_cast<int64_t>(size), info.st_size);
}

} // namespace weft
