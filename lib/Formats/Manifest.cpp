//===- Manifest.cpp - Values of a manifest and their rules ----------------===//

#include "weft/Formats/Manifest.h"

#include "weft/Formats/Durable.h"

#include <cmath>
#include <set>

namespace weft {

const char *const manifestName = "MANIFEST.json";

std::string pieceKey(const std::string &tensor, int64_t begin, int64_t end,
                     int64_t elements) {
  if (begin == 0 && end == elements)
    return tensor;
  return tensor + "[" + std::to_string(begin) + ":" + std::to_string(end) + ")";
}

const ManifestFile *Manifest::findFile(const std::string &name) const {
  for (const ManifestFile &file : files)
    if (file.name == name)
      return &file;
  return nullptr;
}

const ManifestTensor *Manifest::findTensor(const std::string &name) const {
  for (const ManifestTensor &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

std::optional<double> Manifest::scalar(const std::string &name) const {
  for (const auto &[key, value] : scalars)
    if (key == name)
      return value;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static bool isPlainName(const std::string &name) {
  return !name.empty() && name != "." && name != ".." && name != manifestName &&
         name.find('/') == name.npos && name.find('\0') == name.npos;
}

static bool isDigest(const std::string &text) {
  return text.size() == 32 &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

static Status checkFiles(const std::vector<ManifestFile> &files,
                         const std::string &at) {
  std::set<std::string> names;
  for (const ManifestFile &file : files) {
    if (!isPlainName(file.name))
      return checkpointError("expects a plain file name, but got " +
                             inQuotes(file.name))
          .at(at);
    if (!names.insert(file.name).second)
      return checkpointError("file " + inQuotes(file.name) + " is listed twice")
          .at(at);
    if (!isDigest(file.xxh3))
      return checkpointError("expects a digest of 32 hexadecimal digits for " +
                             inQuotes(file.name) + ", but got " +
                             inQuotes(file.xxh3))
          .at(at);
  }
  return Status::success();
}

/// The pieces must cover the elements of the tensor, each once, in order.
static Status checkPieces(const ManifestTensor &tensor,
                          const std::set<std::string> &files,
                          const std::string &at) {
  auto elements = countElements(tensor.shape);
  if (!elements || !countBytes(tensor.type, tensor.shape))
    return checkpointError("tensor " + inQuotes(tensor.name) +
                           " has no size for shape " + shapeText(tensor.shape))
        .at(at);
  int64_t end = 0;
  for (const ManifestPiece &piece : tensor.pieces) {
    if (!files.count(piece.file))
      return checkpointError("tensor " + inQuotes(tensor.name) +
                             " lies in file " + inQuotes(piece.file) +
                             ", which is not listed")
          .at(at);
    if (piece.begin != end || piece.end < piece.begin)
      return checkpointError("the pieces of tensor " + inQuotes(tensor.name) +
                             " expect one that begins at element " +
                             std::to_string(end) + ", but got [" +
                             std::to_string(piece.begin) + ", " +
                             std::to_string(piece.end) + ")")
          .at(at);
    end = piece.end;
  }
  if (end != *elements)
    return checkpointError("the pieces of tensor " + inQuotes(tensor.name) +
                           " end at element " + std::to_string(end) +
                           ", but it has " + std::to_string(*elements))
        .at(at);
  return Status::success();
}

Status Manifest::validate(const std::string &file) const {
  if (Status status = checkFiles(files, file); !status)
    return status;
  for (const auto &[name, value] : scalars)
    if (!std::isfinite(value))
      return checkpointError("scalar " + inQuotes(name) + " is not finite")
          .at(file);
  std::set<std::string> fileNames, names;
  for (const ManifestFile &entry : files)
    fileNames.insert(entry.name);
  for (const ManifestTensor &tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return checkpointError("tensor " + inQuotes(tensor.name) +
                             " is listed twice")
          .at(file);
    if (Status status = checkPieces(tensor, fileNames, file); !status)
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Files on disk
//===----------------------------------------------------------------------===//

static Status verifyFile(const ManifestFile &entry, const std::string &path) {
  auto digest = digestFile(path);
  if (!digest)
    return digest.takeError()
        .hint("the checkpoint is damaged: resume from an older step")
        .ofCheckpoint();
  if (digest->bytes != entry.bytes)
    return checkpointError("expects " + exactBytes(entry.bytes) +
                           ", but the file has " + exactBytes(digest->bytes))
        .at(path)
        .hint("the checkpoint is damaged: resume from an older step");
  if (digest->xxh3 != entry.xxh3)
    return checkpointError("expects digest " + entry.xxh3 + ", but got " +
                           digest->xxh3)
        .at(path)
        .hint("the checkpoint is damaged: resume from an older step");
  return Status::success();
}

static Status verifyPiece(const ManifestTensor &tensor,
                          const ManifestPiece &piece,
                          const SafetensorsFile &file) {
  const TensorInfo *info = file.find(piece.key);
  if (!info)
    return checkpointError("tensor " + inQuotes(piece.key) + " is missing")
        .at(file.path());
  if (info->type != tensor.type || info->elements() != piece.end - piece.begin)
    return checkpointError("tensor " + inQuotes(piece.key) + " expects " +
                           std::to_string(piece.end - piece.begin) +
                           " elements of " + tensorTypeName(tensor.type) +
                           ", but got " + std::to_string(info->elements()) +
                           " of " + tensorTypeName(info->type))
        .at(file.path());
  return Status::success();
}

Status Manifest::verifyFiles(const std::string &stepDirectory) const {
  for (const ManifestFile &entry : files)
    if (Status status = verifyFile(entry, stepDirectory + "/" + entry.name);
        !status)
      return status;
  // Only files that hold pieces are safetensors.
  std::map<std::string, SafetensorsFile> open;
  for (const ManifestTensor &tensor : tensors)
    for (const ManifestPiece &piece : tensor.pieces) {
      auto found = open.find(piece.file);
      if (found == open.end()) {
        auto file = SafetensorsFile::open(stepDirectory + "/" + piece.file);
        if (!file)
          return file.takeError().ofCheckpoint();
        found = open.emplace(piece.file, std::move(*file)).first;
      }
      if (Status status = verifyPiece(tensor, piece, found->second); !status)
        return status;
    }
  return Status::success();
}

} // namespace weft
