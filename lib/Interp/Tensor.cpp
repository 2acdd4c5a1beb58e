//===- Tensor.cpp - Values of the reference interpreter -------------------===//

#include "weft/Interp/Tensor.h"

#include "weft/Base/Half.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace weft;

const char *weft::elementKindName(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
    return "f64";
  case ElementKind::F32:
    return "f32";
  case ElementKind::F16:
    return "f16";
  case ElementKind::BF16:
    return "bf16";
  case ElementKind::I64:
    return "i64";
  case ElementKind::I32:
    return "i32";
  case ElementKind::I1:
    return "i1";
  }
  llvm_unreachable("all element kinds are handled");
}

std::optional<ElementKind> weft::elementKindOf(Type elementType) {
  if (elementType.isF64())
    return ElementKind::F64;
  if (elementType.isF32())
    return ElementKind::F32;
  if (elementType.isF16())
    return ElementKind::F16;
  if (elementType.isBF16())
    return ElementKind::BF16;
  if (elementType.isInteger(64))
    return ElementKind::I64;
  if (elementType.isInteger(32))
    return ElementKind::I32;
  if (elementType.isInteger(1))
    return ElementKind::I1;
  return std::nullopt;
}

double weft::roundTo(ElementKind kind, double value) {
  switch (kind) {
  case ElementKind::F32:
    return static_cast<float>(value);
  case ElementKind::F16:
    return halfToFloat(floatToHalf(static_cast<float>(value)));
  case ElementKind::BF16:
    return bf16ToFloat(floatToBf16(static_cast<float>(value)));
  case ElementKind::F64:
  case ElementKind::I64: // no float: nothing is rounded
  case ElementKind::I32:
  case ElementKind::I1:
    return value;
  }
  llvm_unreachable("all element kinds are handled");
}

int64_t weft::wrapTo(ElementKind kind, int64_t value) {
  if (kind == ElementKind::I32)
    return static_cast<int32_t>(static_cast<uint32_t>(value));
  return kind == ElementKind::I1 ? value & 1 : value;
}

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Tensor::Tensor(std::vector<int64_t> shape, ElementKind kind)
    : dims(std::move(shape)), elementKind(kind) {
  size_t count = product(dims);
  if (isFloat())
    floatData.resize(count);
  else
    intData.resize(count);
}

Tensor::Tensor(RankedTensorType type)
    : Tensor(type.getShape().vec(), *elementKindOf(type.getElementType())) {}

Tensor Tensor::floats(std::vector<int64_t> shape, std::vector<double> values,
                      ElementKind kind) {
  assert(weft::isFloat(kind) && product(shape) == int64_t(values.size()));
  Tensor result({0}, kind);
  result.dims = std::move(shape);
  result.floatData = std::move(values);
  return result;
}

Tensor Tensor::ints(std::vector<int64_t> shape, std::vector<int64_t> values,
                    ElementKind kind) {
  assert(!weft::isFloat(kind) && product(shape) == int64_t(values.size()));
  Tensor result({0}, kind);
  result.dims = std::move(shape);
  result.intData = std::move(values);
  return result;
}

Tensor Tensor::scalar(double value, ElementKind kind) {
  return floats({}, {value}, kind);
}

Tensor Tensor::intScalar(int64_t value, ElementKind kind) {
  return ints({}, {value}, kind);
}

//===----------------------------------------------------------------------===//
// Questions and conversions
//===----------------------------------------------------------------------===//

int64_t Tensor::size() const { return product(dims); }

void Tensor::roundElements() {
  for (double &element : floatData)
    element = roundTo(elementKind, element);
  for (int64_t &element : intData)
    element = wrapTo(elementKind, element);
}

Tensor Tensor::renamed(ElementKind newKind) const {
  assert(weft::isFloat(newKind) == isFloat());
  Tensor result = *this;
  result.elementKind = newKind;
  return result;
}

bool Tensor::hasType(RankedTensorType type) const {
  return type.getShape() == ArrayRef<int64_t>(dims) &&
         elementKindOf(type.getElementType()) == elementKind;
}

std::string Tensor::typeText() const {
  std::string text;
  for (int64_t size : dims)
    text += std::to_string(size) + "x";
  return text + elementKindName(elementKind);
}

static void printElements(raw_ostream &os, const Tensor &tensor, int64_t axis,
                          int64_t begin, int64_t count, int64_t most) {
  if (axis == tensor.rank()) {
    if (!tensor.isFloat())
      os << tensor.intAt(begin);
    else if (std::isnan(tensor.at(begin))) // C prints the sign of a NaN
      os << "nan";
    else
      os << llvm::format("%.9g", tensor.at(begin));
    return;
  }
  int64_t size = tensor.dim(axis);
  os << '[';
  for (int64_t i = 0; i < std::min(size, most); ++i) {
    if (i)
      os << ", ";
    printElements(os, tensor, axis + 1, begin + i * (count / size),
                  count / size, most);
  }
  os << (size > most ? ", ...]" : "]");
}

std::string Tensor::text(int64_t most) const {
  std::string result;
  llvm::raw_string_ostream os(result);
  printElements(os, *this, 0, 0, size(), most);
  return result;
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

std::vector<int64_t> weft::stridesOf(ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (int64_t axis = int64_t(shape.size()) - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

void weft::forEachIndex(ArrayRef<int64_t> shape,
                        function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t left = product(shape); left > 0; --left) {
    visit(index);
    for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0; --axis) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

int64_t weft::broadcastOffset(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> index) {
  int64_t offset = 0;
  size_t skipped = index.size() - shape.size();
  for (size_t axis = 0; axis < shape.size(); ++axis)
    offset =
        offset * shape[axis] + (shape[axis] == 1 ? 0 : index[skipped + axis]);
  return offset;
}

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

template <typename T> static T read(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T> static void write(uint8_t *bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

static double readFloat(ElementKind kind, const uint8_t *bytes) {
  switch (kind) {
  case ElementKind::F32:
    return read<float>(bytes);
  case ElementKind::F16:
    return halfToFloat(read<uint16_t>(bytes));
  case ElementKind::BF16:
    return bf16ToFloat(read<uint16_t>(bytes));
  case ElementKind::F64:
    return read<double>(bytes);
  case ElementKind::I64:
  case ElementKind::I32:
  case ElementKind::I1:
    break;
  }
  llvm_unreachable("expects a kind of floats");
}

static void writeFloat(ElementKind kind, uint8_t *bytes, double value) {
  switch (kind) {
  case ElementKind::F32:
    return write(bytes, static_cast<float>(value));
  case ElementKind::F16:
    return write(bytes, floatToHalf(static_cast<float>(value)));
  case ElementKind::BF16:
    return write(bytes, floatToBf16(static_cast<float>(value)));
  case ElementKind::F64:
    return write(bytes, value);
  case ElementKind::I64:
  case ElementKind::I32:
  case ElementKind::I1:
    break;
  }
  llvm_unreachable("expects a kind of floats");
}

static int64_t readInt(ElementKind kind, const uint8_t *bytes) {
  if (kind == ElementKind::I64)
    return read<int64_t>(bytes);
  return kind == ElementKind::I32 ? read<int32_t>(bytes) : *bytes;
}

static void writeInt(ElementKind kind, uint8_t *bytes, int64_t value) {
  if (kind == ElementKind::I64)
    return write(bytes, value);
  if (kind == ElementKind::I32)
    return write(bytes, static_cast<int32_t>(value));
  *bytes = static_cast<uint8_t>(value);
}

void Tensor::loadElement(int64_t index, ElementKind stored,
                         const uint8_t *bytes) {
  if (isFloat())
    at(index) = readFloat(stored, bytes);
  else
    intAt(index) = readInt(stored, bytes);
}

void Tensor::storeElement(int64_t index, ElementKind stored,
                          uint8_t *bytes) const {
  if (isFloat())
    writeFloat(stored, bytes, at(index));
  else
    writeInt(stored, bytes, intAt(index));
}
