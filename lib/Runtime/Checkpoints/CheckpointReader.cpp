//===- CheckpointReader.cpp - Tensors of a checkpoint ---------------------===//

#include "weft/Runtime/Checkpoints/CheckpointReader.h"

#include "weft/Formats/Json.h"
#include "weft/Formats/Text.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/ArenaBytes.h"

#include <algorithm>

using namespace weft;

Expected<CheckpointReader>
CheckpointReader::open(const std::string &stepDirectory) {
  auto manifest = Manifest::read(stepDirectory);
  if (!manifest)
    return manifest.takeError();
  return CheckpointReader(stepDirectory, std::move(*manifest));
}

Expected<const SafetensorsFile *>
CheckpointReader::file(const std::string &name) {
  std::unique_ptr<SafetensorsFile> &slot = files[name];
  if (!slot) {
    auto bytes = info.openFile(directory, name, buffer);
    if (!bytes)
      return bytes.takeError();
    auto opened = SafetensorsFile::open(std::move(*bytes));
    if (!opened)
      return asDamage(opened.takeError());
    if (Status s = info.verifyPieces(*opened, name); !s)
      return asDamage(s.takeError());
    slot = std::make_unique<SafetensorsFile>(std::move(*opened));
  }
  return static_cast<const SafetensorsFile *>(slot.get());
}

Expected<std::vector<CheckpointReader::Part>>
CheckpointReader::partsOf(const ManifestTensor &tensor, int64_t begin,
                          int64_t count) {
  std::vector<Part> parts;
  for (const ManifestPiece &piece : tensor.pieces) {
    const int64_t from = std::max(begin, piece.begin);
    const int64_t to = std::min(begin + count, piece.end);
    if (from >= to)
      continue;
    auto source = file(piece.file);
    if (!source)
      return source.takeError();
    parts.push_back({*source, (*source)->find(piece.key), from - piece.begin,
                     to - from, from - begin});
  }
  return parts;
}

Status CheckpointReader::read(const ManifestTensor &tensor, int64_t begin,
                              int64_t count, void *out) {
  auto parts = partsOf(tensor, begin, count);
  if (!parts)
    return parts.takeError();
  const int64_t size = tensorTypeBits(tensor.type) / 8;
  for (const Part &part : *parts)
    if (Status s =
            part.file->read(*part.info, part.begin * size, part.count * size,
                            static_cast<char *>(out) + part.at * size);
        !s)
      return asDamage(s.takeError());
  return Status::success();
}

Status CheckpointReader::readFloats(const ManifestTensor &tensor, int64_t begin,
                                    int64_t count, float *out) {
  auto parts = partsOf(tensor, begin, count);
  if (!parts)
    return parts.takeError();
  for (const Part &part : *parts)
    if (Status s = part.file->readFloats(*part.info, part.begin, part.count,
                                         out + part.at);
        !s)
      return asDamage(s.takeError());
  return Status::success();
}

Status CheckpointReader::readAll(const WeftContext &context,
                                 const std::vector<TensorTarget> &targets) {
  struct Read {
    const SafetensorsFile *file;
    const TensorInfo *info;
    int64_t begin, bytes; // inside the tensor of the file
    int64_t offset;       // in the arena

    int64_t place() const { return info->begin + begin; }
  };
  std::vector<Read> reads;
  for (const TensorTarget &target : targets) {
    auto parts = partsOf(*target.tensor, target.begin, target.count);
    if (!parts)
      return parts.takeError();
    const int64_t size = tensorTypeBits(target.tensor->type) / 8;
    for (const Part &part : *parts)
      reads.push_back({part.file, part.info, part.begin * size,
                       part.count * size, target.offset + part.at * size});
  }
  std::sort(reads.begin(), reads.end(), [](const Read &a, const Read &b) {
    const int order = a.file->path().compare(b.file->path());
    return order != 0 ? order < 0 : a.place() < b.place();
  });
  for (const Read &read : reads) {
    auto fill = [&](char *out, int64_t at, int64_t bytes) -> Status {
      Status s = read.file->read(*read.info, read.begin + at, bytes, out);
      return s ? Status::success() : Status(asDamage(s.takeError()));
    };
    if (Status s = writeArena(context, read.offset, read.bytes, fill); !s)
      return s;
  }
  return Status::success();
}

std::string weft::savedModelName(const std::string &stepDirectory,
                                 const Manifest &manifest) {
  auto model = readJsonFile(stepDirectory + "/" + modelFileName);
  const Json *name = model ? model->find("name") : nullptr;
  return name && name->isString() ? printable(name->asString(), 80)
                                  : manifest.fingerprint;
}
