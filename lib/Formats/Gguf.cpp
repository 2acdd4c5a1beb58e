//===- Gguf.cpp - Checked reading of one GGUF file ------------------------===//

#include "weft/Formats/Gguf.h"

#include "GgufScanner.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"

#include <algorithm>

namespace weft {

static constexpr int64_t kMagicBytes = 4;
static constexpr char kAlignmentKey[] = "general.alignment";

int64_t GgufTensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// An error unless the file begins as a GGUF file does.
static Status checkMagic(ByteSource &source) {
  uint8_t head[4096];
  const int64_t bytes = std::min<int64_t>(sizeof head, source.size());
  if (Status status = source.read(0, bytes, head); !status)
    return status;
  if (bytes >= kMagicBytes && std::memcmp(head, "GGUF", kMagicBytes) == 0)
    return Status::success();
  const FileKind kind = guessFileKind(head, bytes, source.size());
  Error error =
      inputError("byte 0: expects a GGUF file, which begins with 'GGUF'" +
                 (kind.isKnown() ? std::string(", but got ") + kind.name : ""));
  return error.at(source.path());
}

/// Position by name; an error at the second one of a name.
template <typename Item, typename NameOf>
static Status indexNames(const std::vector<Item> &items, const char *what,
                         NameOf nameOf, const std::string &path,
                         std::map<std::string, size_t, std::less<>> &out) {
  for (size_t i = 0; i < items.size(); ++i)
    if (!out.insert({nameOf(items[i]), i}).second)
      return inputError(std::string("expects each ") + what +
                        " once, but got " + inQuotes(nameOf(items[i])) +
                        " twice")
          .at(path);
  return Status::success();
}

/// Moves the tensors behind the header and checks that they are aligned, lie in
/// the file and do not overlap.
static Status placeTensors(std::vector<GgufTensor> &tensors, int64_t base,
                           int64_t alignment, const ByteSource &source) {
  std::vector<const GgufTensor *> order;
  for (GgufTensor &tensor : tensors) {
    auto wrong = [&](const std::string &message) {
      return inputError("tensor " + inQuotes(tensor.name) + ": " + message)
          .at(source.path());
    };
    if (tensor.begin % alignment != 0)
      return wrong("expects an offset that is a multiple of " +
                   std::to_string(alignment) + ", but got " +
                   std::to_string(tensor.begin));
    if (tensor.end > source.size() - base)
      return wrong("expects bytes " + std::to_string(base + tensor.begin) +
                   " to " + std::to_string(base + tensor.end) +
                   ", but the file has " + exactBytes(source.size()))
          .hint("the file is truncated: copy it again");
    tensor.begin += base;
    tensor.end += base;
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(),
            [](const GgufTensor *a, const GgufTensor *b) {
              return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
            });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->begin < order[i - 1]->end)
      return inputError("tensor " + inQuotes(order[i]->name) + " at byte " +
                        std::to_string(order[i]->begin) + " overlaps " +
                        inQuotes(order[i - 1]->name) + ", which ends at byte " +
                        std::to_string(order[i - 1]->end))
          .at(source.path());
  return Status::success();
}

/// The value of general.alignment.
static Expected<int64_t> alignmentOf(const GgufFile &file) {
  auto given = file.integer(kAlignmentKey);
  if (!given)
    return given.takeError();
  const int64_t alignment = given->value_or(32);
  if (alignment < 8 || alignment > (int64_t(1) << 30) ||
      (alignment & (alignment - 1)) != 0)
    return file.valueError(*file.findEntry(kAlignmentKey),
                           "expects a power of two from 8 to 1073741824, but "
                           "got " +
                               std::to_string(alignment));
  return alignment;
}

Expected<GgufFile> GgufFile::open(std::unique_ptr<ByteSource> source) {
  GgufFile file;
  file.source = std::move(source);
  ByteSource &bytes = *file.source;
  if (Status status = checkMagic(bytes); !status)
    return status.takeError();
  GgufScanner scanner(bytes);
  (void)scanner.take<uint32_t>("the magic number");
  file.versionNumber = scanner.takeVersion();
  const auto tensors = scanner.take<uint64_t>("the number of tensors");
  const auto entries = scanner.take<uint64_t>("the number of values");
  file.values = scanner.takeEntries(entries);
  file.infos = scanner.takeTensors(tensors);
  const int64_t headerEnd = scanner.position();
  Status status = scanner.finish();
  if (status)
    status = indexNames(
        file.values, "key", [](const GgufEntry &e) { return e.key; },
        file.path(), file.entriesByKey);
  if (status)
    status = indexNames(
        file.infos, "tensor", [](const GgufTensor &t) { return t.name; },
        file.path(), file.tensorsByName);
  if (!status)
    return status.takeError();
  auto alignment = alignmentOf(file);
  if (!alignment)
    return alignment.takeError();
  const int64_t base = (headerEnd + *alignment - 1) / *alignment * *alignment;
  if (Status placed = placeTensors(file.infos, base, *alignment, bytes);
      !placed)
    return placed.takeError();
  return file;
}

Expected<GgufFile> GgufFile::open(const std::string &path) {
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  return open(std::move(*file));
}

const GgufEntry *GgufFile::findEntry(std::string_view key) const {
  auto found = entriesByKey.find(key);
  return found == entriesByKey.end() ? nullptr : &values[found->second];
}

const GgufTensor *GgufFile::find(std::string_view name) const {
  auto found = tensorsByName.find(name);
  return found == tensorsByName.end() ? nullptr : &infos[found->second];
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Status GgufFile::readFloats(const GgufTensor &tensor, int64_t begin,
                            int64_t count, float *out) const {
  const GgmlTypeRow &type = *tensor.type;
  const int64_t elements = tensor.elements();
  if (begin < 0 || count < 0 || begin > elements || count > elements - begin)
    return inputError(
               "tensor " + inQuotes(tensor.name) + " has " +
               std::to_string(elements) + " elements, but got the range from " +
               std::to_string(begin) + " of length " + std::to_string(count))
        .at(path());
  if (!type.decode)
    return inputError("tensor " + inQuotes(tensor.name) + ": expects type " +
                      readableGgmlTypes() + ", but got " + type.name)
        .at(path());
  alignas(8) uint8_t raw[1 << 16];
  float block[kMostBlockElements];
  const int64_t width = type.blockElements, end = begin + count;
  const int64_t mostBlocks = int64_t(sizeof raw) / type.blockBytes;
  for (int64_t at = begin; at < end;) {
    const int64_t skipped = at % width;
    // A block that the range does not cover goes through `block`.
    const bool isWhole = skipped == 0 && end - at >= width;
    const int64_t blocks =
        isWhole ? std::min((end - at) / width, mostBlocks) : 1;
    if (Status status =
            source->read(tensor.begin + at / width * type.blockBytes,
                         blocks * type.blockBytes, raw);
        !status)
      return status;
    const int64_t done =
        isWhole ? blocks * width : std::min(width - skipped, end - at);
    type.decode(raw, blocks, isWhole ? out : block);
    if (!isWhole)
      std::copy_n(block + skipped, done, out);
    at += done;
    out += done;
  }
  return Status::success();
}

} // namespace weft
