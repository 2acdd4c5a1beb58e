//===- TensorFile.cpp - Tensors of the interpreter in files ---------------===//

#include "weft/Interp/TensorFile.h"

#include "weft/Base/Half.h"
#include "weft/Base/Text.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/Safetensors.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstring>

namespace weft {

template <typename T> static T readAs(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// Types of a file and of the interpreter with the same values.
static constexpr std::pair<TensorType, ElementKind> kTypes[] = {
    {TensorType::F64, ElementKind::F64}, {TensorType::F32, ElementKind::F32},
    {TensorType::F16, ElementKind::F16}, {TensorType::BF16, ElementKind::BF16},
    {TensorType::I64, ElementKind::I64}, {TensorType::I32, ElementKind::I32},
    {TensorType::Bool, ElementKind::I1},
};

static std::optional<ElementKind> kindOf(TensorType type) {
  for (auto [inFile, kind] : kTypes)
    if (inFile == type)
      return kind;
  return std::nullopt;
}

static double readFloat(ElementKind kind, const uint8_t *bytes) {
  switch (kind) {
  case ElementKind::F64:
    return readAs<double>(bytes);
  case ElementKind::F32:
    return readAs<float>(bytes);
  case ElementKind::F16:
    return halfToFloat(readAs<uint16_t>(bytes));
  case ElementKind::BF16:
    return bf16ToFloat(readAs<uint16_t>(bytes));
  case ElementKind::I64:
  case ElementKind::I32:
  case ElementKind::I1:
    break;
  }
  llvm_unreachable("expects a kind of floats");
}

static int64_t readInt(ElementKind kind, const uint8_t *bytes) {
  switch (kind) {
  case ElementKind::I64:
    return readAs<int64_t>(bytes);
  case ElementKind::I32:
    return readAs<int32_t>(bytes);
  case ElementKind::I1:
    return *bytes != 0;
  case ElementKind::F64:
  case ElementKind::F32:
  case ElementKind::F16:
  case ElementKind::BF16:
    break;
  }
  llvm_unreachable("expects a kind of integers");
}

Expected<TensorMap> loadTensors(const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  TensorMap tensors;
  for (const TensorInfo &info : file->tensors()) {
    std::optional<ElementKind> kind = kindOf(info.type);
    if (!kind)
      return inputError("tensor " + inQuotes(info.name) + " has the type " +
                        tensorTypeName(info.type) +
                        ", which weft does not have")
          .at(path);
    Tensor tensor(info.shape, *kind);
    std::vector<uint8_t> content(info.bytes());
    if (Status status = file->read(info, content.data()); !status)
      return status.takeError();
    const uint8_t *bytes = content.data();
    int64_t width = tensorTypeBits(info.type) / 8;
    for (int64_t i = 0; i < tensor.size(); ++i, bytes += width)
      if (tensor.isFloat())
        tensor.at(i) = readFloat(*kind, bytes);
      else
        tensor.intAt(i) = readInt(*kind, bytes);
    tensors.emplace(info.name, std::move(tensor));
  }
  return tensors;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static TensorType typeOf(ElementKind kind, ComputeMode mode) {
  if (isFloat(kind) && mode == ComputeMode::F64)
    return TensorType::F64;
  for (auto [type, known] : kTypes)
    if (known == kind)
      return type;
  llvm_unreachable("all element kinds are handled");
}

template <typename T>
static void append(std::vector<uint8_t> &bytes, const T &value) {
  const auto *begin = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

static std::vector<uint8_t> bytesOf(const Tensor &tensor, TensorType type) {
  std::vector<uint8_t> bytes;
  for (double element : tensor.floatValues())
    if (type == TensorType::F64)
      append(bytes, element);
    else if (type == TensorType::F32)
      append(bytes, static_cast<float>(element));
    else if (type == TensorType::F16)
      append(bytes, floatToHalf(static_cast<float>(element)));
    else
      append(bytes, floatToBf16(static_cast<float>(element)));
  for (int64_t element : tensor.intValues())
    if (type == TensorType::I64)
      append(bytes, element);
    else if (type == TensorType::I32)
      append(bytes, static_cast<int32_t>(element));
    else
      append(bytes, static_cast<uint8_t>(element));
  return bytes;
}

Status saveTensors(const std::string &path, const TensorMap &tensors,
                   ComputeMode mode) {
  std::vector<TensorSpec> specs;
  for (const auto &[name, tensor] : tensors)
    specs.push_back({name, typeOf(tensor.kind(), mode), tensor.shape()});
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(
      path, std::move(specs), {{writtenByKey, "tensors"}});
  if (!writer)
    return writer.takeError();
  for (const auto &[name, tensor] : tensors) {
    std::vector<uint8_t> bytes = bytesOf(tensor, typeOf(tensor.kind(), mode));
    if (Status status = writer->writeTensor(name, bytes.data(), bytes.size());
        !status)
      return status;
  }
  return writer->finish();
}

} // namespace weft
