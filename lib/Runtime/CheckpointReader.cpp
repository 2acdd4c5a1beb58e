//===- CheckpointReader.cpp - Tensors of a checkpoint ---------------------===//

#include "weft/Runtime/CheckpointReader.h"

#include "weft/Formats/Json.h"
#include "weft/Formats/Text.h"
#include "weft/Runtime/Checkpoint.h"

#include <cstring>

using namespace weft;

Expected<CheckpointReader>
CheckpointReader::open(const std::string &stepDirectory) {
  auto manifest = Manifest::read(stepDirectory);
  if (!manifest)
    return manifest.takeError();
  if (Status s = manifest->verifyFiles(stepDirectory); !s)
    return s.takeError();
  return CheckpointReader(stepDirectory, std::move(*manifest));
}

Expected<const SafetensorsFile *>
CheckpointReader::file(const std::string &name) {
  std::unique_ptr<SafetensorsFile> &slot = files[name];
  if (!slot) {
    auto opened = SafetensorsFile::open(directory + "/" + name);
    if (!opened)
      return opened.takeError().ofCheckpoint();
    slot = std::make_unique<SafetensorsFile>(std::move(*opened));
  }
  return static_cast<const SafetensorsFile *>(slot.get());
}

Status CheckpointReader::read(const ManifestTensor &tensor, char *out) {
  const int64_t size = tensorTypeBits(tensor.type) / 8;
  for (const ManifestPiece &piece : tensor.pieces) {
    auto source = file(piece.file);
    if (!source)
      return source.takeError();
    const TensorInfo *found = (*source)->find(piece.key);
    int64_t bytes = (piece.end - piece.begin) * size;
    if (!found || found->bytes() != bytes)
      return checkpointError("expects " + exactBytes(bytes) + " of " +
                             inQuotes(piece.key))
          .at((*source)->path());
    std::memcpy(out + piece.begin * size, (*source)->data(*found),
                size_t(bytes));
  }
  return Status::success();
}

/// Elements of a tensor of a valid manifest.
static int64_t elementsOf(const ManifestTensor &tensor) {
  return countElements(tensor.shape).value_or(0);
}

Expected<std::vector<char>>
CheckpointReader::read(const ManifestTensor &tensor) {
  std::vector<char> bytes(
      size_t(elementsOf(tensor) * (tensorTypeBits(tensor.type) / 8)));
  if (Status s = read(tensor, bytes.data()); !s)
    return s.takeError();
  return bytes;
}

Expected<std::vector<float>>
CheckpointReader::readFloats(const ManifestTensor &tensor) {
  std::vector<float> values(size_t(elementsOf(tensor)));
  for (const ManifestPiece &piece : tensor.pieces) {
    auto source = file(piece.file);
    if (!source)
      return source.takeError();
    const TensorInfo *found = (*source)->find(piece.key);
    if (!found || found->elements() != piece.end - piece.begin)
      return checkpointError("expects " +
                             std::to_string(piece.end - piece.begin) +
                             " elements of " + inQuotes(piece.key))
          .at((*source)->path());
    if (Status s = (*source)->readFloats(*found, values.data() + piece.begin);
        !s)
      return s.takeError().ofCheckpoint();
  }
  return values;
}

std::string weft::savedModelName(const std::string &stepDirectory,
                                 const Manifest &manifest) {
  auto model = readJsonFile(stepDirectory + "/" + modelFileName);
  const Json *name = model ? model->find("name") : nullptr;
  return name && name->isString() ? printable(name->asString(), 80)
                                  : manifest.fingerprint;
}
