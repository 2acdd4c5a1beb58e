//===- CheckpointReader.cpp - Tensors of a checkpoint ---------------------===//

#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/Ports.h"

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

Status CheckpointReader::readRanges(const WeftContext &context,
                                    const std::string &name,
                                    std::vector<Range> &ranges) {
  auto source = file(name);
  if (!source)
    return source.takeError();
  for (Range &range : ranges)
    range.info = (*source)->find(range.piece->key);
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return a.info->begin + a.begin < b.info->begin + b.begin;
  });
  for (const Range &range : ranges) {
    auto fill = [&](char *out, int64_t at, int64_t bytes) -> Status {
      Status s = (*source)->read(*range.info, range.begin + at, bytes, out);
      return s ? Status::success() : Status(asDamage(s.takeError()));
    };
    if (Status s = writeArena(context, range.offset, range.bytes, fill); !s)
      return s;
  }
  return Status::success();
}

Status CheckpointReader::readAll(const WeftContext &context,
                                 const std::vector<TensorTarget> &targets) {
  std::map<std::string, std::vector<Range>> rangesOf;
  for (const TensorTarget &target : targets) {
    const int64_t size = tensorTypeBits(target.tensor->type) / 8;
    for (const ManifestPiece &piece : target.tensor->pieces) {
      const int64_t from = std::max(target.begin, piece.begin);
      const int64_t to = std::min(target.begin + target.count, piece.end);
      if (from < to)
        rangesOf[piece.file].push_back(
            {&piece, nullptr, (from - piece.begin) * size, (to - from) * size,
             target.offset + (from - target.begin) * size});
    }
  }
  for (auto &[name, ranges] : rangesOf)
    if (Status s = readRanges(context, name, ranges); !s)
      return s;
  return Status::success();
}

std::string weft::savedModelName(const std::string &stepDirectory,
                                 const Manifest &manifest) {
  auto model = readJsonFile(stepDirectory + "/" + modelFileName);
  const Json *name = model ? model->find("name") : nullptr;
  return name && name->isString() ? printable(name->asString(), 80)
                                  : manifest.fingerprint;
}
