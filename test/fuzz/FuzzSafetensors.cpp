//===- FuzzSafetensors.cpp - Any bytes as a safetensors file --------------===//
//
// Of an accepted file every byte of every tensor is read: none lies outside of
// the file, which the address sanitizer guards.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Formats/Safetensors.h"

using namespace weft;

static void readTensor(const SafetensorsFile &file, const TensorInfo &info) {
  FUZZ_CHECK(file.find(info.name) == &info);
  std::vector<uint8_t> bytes(static_cast<size_t>(info.bytes()));
  FUZZ_CHECK(file.read(info, bytes.data()).ok());
  FUZZ_CHECK(!file.read(info, 1, info.bytes(), bytes.data()).ok());
  std::vector<float> out(static_cast<size_t>(info.elements()));
  bool isFloat = info.type == TensorType::F16 ||
                 info.type == TensorType::BF16 ||
                 info.type == TensorType::F32 || info.type == TensorType::F64;
  // The elements of an empty dimension have no bytes but may be many: none.
  FUZZ_CHECK(out.size() * tensorTypeBits(info.type) / 8 ==
             static_cast<size_t>(info.bytes()));
  FUZZ_CHECK(file.readFloats(info, out.data()).ok() == isFloat);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = SafetensorsFile::open(
      std::make_unique<MemoryBytes>(data, static_cast<int64_t>(size), "fuzz"));
  if (!file) {
    FUZZ_CHECK(file.error().code() == ExitCode::Input);
    return 0;
  }
  for (const TensorInfo &info : file->tensors())
    readTensor(*file, info);
  return 0;
}
