//===- Manifest.cpp - Values of a manifest and their rules ----------------===//

#include "weft/Formats/Manifest.h"

#include "weft/Formats/StepDirectories.h"

#include <algorithm>
#include <set>

using namespace weft;

Error weft::asDamage(Error error) {
  return error.hint("the checkpoint is damaged: resume from an older step")
      .ofCheckpoint();
}

std::string weft::pieceKey(const std::string &tensor, int64_t begin,
                           int64_t end, int64_t elements) {
  if (begin == 0 && end == elements)
    return tensor;
  return tensor + "[" + std::to_string(begin) + ":" + std::to_string(end) + ")";
}

const ManifestTensor *Manifest::findTensor(const std::string &name) const {
  for (const ManifestTensor &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
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

/// One digest per block, and the one over them.
static Status checkDigest(const ManifestFile &file) {
  const FileDigest &digest = file.digest;
  for (const std::string &block : digest.blocks)
    if (!isDigest(block))
      return checkpointError("expects digests of 32 hexadecimal digits for " +
                             inQuotes(file.name) + ", but got " +
                             inQuotes(block));
  if (int64_t(digest.blocks.size()) != countBlocks(digest.bytes))
    return checkpointError(
        "expects " + std::to_string(countBlocks(digest.bytes)) +
        " digests of blocks for the " + std::to_string(digest.bytes) +
        " bytes of " + inQuotes(file.name) + ", but got " +
        std::to_string(digest.blocks.size()));
  if (digestOfBlocks(digest.blocks) != digest.xxh3)
    return checkpointError("expects digest " + digestOfBlocks(digest.blocks) +
                           " over the blocks of " + inQuotes(file.name) +
                           ", but got " + inQuotes(digest.xxh3));
  return Status::success();
}

static Status checkFiles(const std::vector<ManifestFile> &files) {
  std::set<std::string> names;
  for (const ManifestFile &file : files) {
    if (!isPlainName(file.name))
      return checkpointError("expects a plain file name, but got " +
                             inQuotes(file.name));
    if (!names.insert(file.name).second)
      return checkpointError("file " + inQuotes(file.name) +
                             " is listed twice");
    if (Status status = checkDigest(file); !status)
      return status;
  }
  return Status::success();
}

/// Its kind is known, and its elements have a size in whole bytes.
static Status checkKind(const ManifestTensor &tensor) {
  const std::string &kind = tensor.kind;
  if (kind != "param" && kind != "optimizer" && kind != "scaler")
    return checkpointError(
        "tensor " + inQuotes(tensor.name) +
        " expects kind param, optimizer or scaler, but got " + inQuotes(kind));
  if (tensorTypeBits(tensor.type) % 8)
    return checkpointError("tensor " + inQuotes(tensor.name) +
                           " expects elements of whole bytes, but got " +
                           tensorTypeName(tensor.type));
  return Status::success();
}

/// The pieces must cover the elements of the tensor, each once, in order.
static Status checkPieces(const ManifestTensor &tensor,
                          const std::set<std::string> &files) {
  auto elements = countElements(tensor.shape);
  if (!elements || !countBytes(tensor.type, tensor.shape))
    return checkpointError("tensor " + inQuotes(tensor.name) +
                           " has no size for shape " + shapeText(tensor.shape));
  int64_t end = 0;
  for (const ManifestPiece &piece : tensor.pieces) {
    if (!files.count(piece.file))
      return checkpointError("tensor " + inQuotes(tensor.name) +
                             " is in file " + inQuotes(piece.file) +
                             ", which is not listed");
    if (piece.begin != end || piece.end < piece.begin)
      return checkpointError("the pieces of tensor " + inQuotes(tensor.name) +
                             " expect one that begins at element " +
                             std::to_string(end) + ", but got [" +
                             std::to_string(piece.begin) + ", " +
                             std::to_string(piece.end) + ")");
    end = piece.end;
  }
  if (end != *elements)
    return checkpointError("the pieces of tensor " + inQuotes(tensor.name) +
                           " end at element " + std::to_string(end) +
                           ", but it has " + std::to_string(*elements));
  return Status::success();
}

static Status checkValues(const std::vector<ManifestFile> &files,
                          const std::vector<ManifestTensor> &tensors) {
  if (Status status = checkFiles(files); !status)
    return status;
  std::set<std::string> fileNames, names;
  for (const ManifestFile &entry : files)
    fileNames.insert(entry.name);
  for (const ManifestTensor &tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return checkpointError("tensor " + inQuotes(tensor.name) +
                             " is listed twice");
    if (Status status = checkKind(tensor); !status)
      return status;
    if (Status status = checkPieces(tensor, fileNames); !status)
      return status;
  }
  return Status::success();
}

Status Manifest::validate(const std::string &file) const {
  Status status = checkValues(files, tensors);
  return status ? std::move(status) : status.takeError().at(file);
}

//===----------------------------------------------------------------------===//
// Files on disk
//===----------------------------------------------------------------------===//

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

Expected<std::unique_ptr<CheckedFile>>
Manifest::openFile(const std::string &stepDirectory, const std::string &name,
                   std::shared_ptr<BlockBuffer> buffer) const {
  const std::string path = stepDirectory + "/" + name;
  auto entry =
      std::find_if(files.begin(), files.end(),
                   [&](const ManifestFile &file) { return file.name == name; });
  if (entry == files.end())
    return checkpointError("the manifest does not list this file").at(path);
  auto file = CheckedFile::open(path, entry->digest);
  if (!file)
    return asDamage(file.takeError());
  if (buffer)
    (*file)->share(std::move(buffer));
  return file;
}

Expected<std::string> Manifest::readText(const std::string &stepDirectory,
                                         const std::string &name) const {
  auto file = openFile(stepDirectory, name);
  if (!file)
    return file.takeError();
  std::string text(static_cast<size_t>((*file)->size()), '\0');
  if (Status status = (*file)->read(0, (*file)->size(), text.data()); !status)
    return asDamage(status.takeError());
  return text;
}

Status Manifest::verifyPieces(const SafetensorsFile &file,
                              const std::string &name) const {
  for (const ManifestTensor &tensor : tensors)
    for (const ManifestPiece &piece : tensor.pieces)
      if (piece.file == name)
        if (Status status = verifyPiece(tensor, piece, file); !status)
          return status;
  return Status::success();
}

/// Reads a whole file, `bytes`, which is of tensors if pieces lie in it.
static Status verifyFile(const Manifest &manifest, const std::string &name,
                         bool hasPieces, std::unique_ptr<CheckedFile> bytes) {
  if (!hasPieces)
    return bytes->readRest();
  CheckedFile &source = *bytes;
  auto file = SafetensorsFile::open(std::move(bytes));
  if (!file)
    return file.takeError();
  if (Status status = manifest.verifyPieces(*file, name); !status)
    return status;
  return source.readRest();
}

Status Manifest::verifyFiles(const std::string &stepDirectory) const {
  std::set<std::string> withPieces;
  for (const ManifestTensor &tensor : tensors)
    for (const ManifestPiece &piece : tensor.pieces)
      withPieces.insert(piece.file);
  for (const ManifestFile &entry : files) {
    auto bytes = openFile(stepDirectory, entry.name);
    if (!bytes)
      return bytes.takeError();
    if (Status status =
            verifyFile(*this, entry.name, withPieces.count(entry.name) > 0,
                       std::move(*bytes));
        !status)
      return asDamage(status.takeError());
  }
  return Status::success();
}

std::string weft::textField(const Json &object, const char *name) {
  const Json *field = object.isObject() ? object.find(name) : nullptr;
  return field && field->isString() ? field->asString() : "";
}
