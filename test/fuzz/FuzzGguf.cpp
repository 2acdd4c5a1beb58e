//===- FuzzGguf.cpp - Any bytes as a GGUF file ----------------------------===//
//
// Of an accepted file every value and every tensor is read: none lies outside
// of the file, which the address sanitizer guards. A model of a known
// architecture is read through the names and the order of transformers, too.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Formats/GgufVocabulary.h"
#include "weft/Formats/GgufWeights.h"

#include <cstring>

using namespace weft;

static void readTensor(const GgufFile &file, const GgufTensor &tensor) {
  FUZZ_CHECK(file.find(tensor.name) == &tensor);
  FUZZ_CHECK(tensor.begin >= 0 && tensor.begin <= tensor.end &&
             tensor.end <= file.bytes().size());
  std::vector<float> out(static_cast<size_t>(tensor.elements()));
  const int64_t count = tensor.elements();
  const bool isRead = tensor.type->decode != nullptr;
  FUZZ_CHECK(file.readFloats(tensor, 0, count, out.data()).ok() == isRead);
  FUZZ_CHECK(!file.readFloats(tensor, 1, count, out.data()).ok());
  // A part equals the same elements of the whole.
  std::vector<float> part(out.size());
  const int64_t begin = count / 3, length = count / 2 - begin;
  if (!isRead || length < 1)
    return;
  FUZZ_CHECK(file.readFloats(tensor, begin, length, part.data()).ok());
  FUZZ_CHECK(std::memcmp(part.data(), out.data() + begin,
                         static_cast<size_t>(length) * sizeof(float)) == 0);
}

static void readValue(const GgufFile &file, const GgufEntry &entry) {
  FUZZ_CHECK(file.findEntry(entry.key) == &entry);
  auto raw = file.rawValue(entry);
  FUZZ_CHECK(raw.ok() && int64_t(raw->size()) == entry.end - entry.begin);
  (void)file.integer(entry.key);
  (void)file.number(entry.key);
  (void)file.boolean(entry.key);
  (void)file.text(entry.key);
  (void)file.texts(entry.key);
  (void)file.integers(entry.key);
  (void)file.floats(entry.key);
}

static void readModel(const uint8_t *data, size_t size) {
  auto weights = GgufWeights::open(
      std::make_unique<MemoryBytes>(data, static_cast<int64_t>(size), "fuzz"));
  if (!weights) {
    FUZZ_CHECK(weights.error().code() == ExitCode::Input);
    return;
  }
  for (const TensorInfo &info : (*weights)->tensors()) {
    std::vector<float> out(static_cast<size_t>(info.elements()));
    FUZZ_CHECK(
        (*weights)->readFloats(info, 0, info.elements(), out.data()).ok());
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = GgufFile::open(
      std::make_unique<MemoryBytes>(data, static_cast<int64_t>(size), "fuzz"));
  if (!file) {
    FUZZ_CHECK(file.error().code() == ExitCode::Input);
    return 0;
  }
  for (const GgufEntry &entry : file->entries())
    readValue(*file, entry);
  for (const GgufTensor &tensor : file->tensors())
    readTensor(*file, tensor);
  (void)readVocabulary(*file);
  readModel(data, size);
  return 0;
}
