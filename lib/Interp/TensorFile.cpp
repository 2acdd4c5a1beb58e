//===- TensorFile.cpp - Tensors of the interpreter in files ---------------===//

#include "weft/Interp/TensorFile.h"

#include "weft/Base/Text.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/Safetensors.h"

#include "llvm/Support/ErrorHandling.h"

namespace weft {

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
      tensor.loadElement(i, *kind, bytes);
    if (*kind == ElementKind::I1)
      for (int64_t &flag : tensor.intValues())
        flag = flag != 0;
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

static std::vector<uint8_t> bytesOf(const Tensor &tensor, TensorType type) {
  const int64_t width = tensorTypeBits(type) / 8;
  std::vector<uint8_t> bytes(tensor.size() * width);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.storeElement(i, *kindOf(type), &bytes[i * width]);
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
