//===- Tensor.h - Values of the reference interpreter -----------*- C++ -*-===//
//
// A dense row-major tensor by value. Floating-point elements are stored as
// double, integers and booleans as int64_t. The element kind is the element
// type in the module; roundTo() rounds to the values of a kind.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_TENSOR_H
#define WEFT_INTERP_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

enum class ElementKind { F64, F32, F16, BF16, I64, I32, I1 };

inline bool isFloat(ElementKind kind) { return kind <= ElementKind::BF16; }
/// "f32", "i1", ...: the spelling in the IR.
const char *elementKindName(ElementKind kind);
/// Nothing for a type that weft tensors do not have.
std::optional<ElementKind> elementKindOf(mlir::Type elementType);

/// The nearest value of the kind (ties to even). f16 and bf16 round through
/// f32, as hardware that computes in f32 does.
double roundTo(ElementKind kind, double value);
/// Two's complement wrap-around to the width of the kind.
int64_t wrapTo(ElementKind kind, int64_t value);

class Tensor {
public:
  /// A f64 scalar 0.
  Tensor() : Tensor({}, ElementKind::F64) {}
  /// Zeros.
  Tensor(std::vector<int64_t> shape, ElementKind kind);
  /// Zeros of that type.
  explicit Tensor(mlir::RankedTensorType type);

  /// The number of values must be the product of the shape.
  static Tensor floats(std::vector<int64_t> shape, std::vector<double> values,
                       ElementKind kind = ElementKind::F32);
  static Tensor ints(std::vector<int64_t> shape, std::vector<int64_t> values,
                     ElementKind kind = ElementKind::I32);
  static Tensor scalar(double value, ElementKind kind = ElementKind::F32);
  static Tensor intScalar(int64_t value, ElementKind kind = ElementKind::I64);

  const std::vector<int64_t> &shape() const { return dims; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t dim(int64_t index) const { return dims[index]; }
  ElementKind kind() const { return elementKind; }
  bool isFloat() const { return weft::isFloat(elementKind); }
  /// Number of elements.
  int64_t size() const;

  /// Row-major element `index`, of a floating-point or of an integer tensor.
  double &at(int64_t index) { return floatData[index]; }
  double at(int64_t index) const { return floatData[index]; }
  int64_t &intAt(int64_t index) { return intData[index]; }
  int64_t intAt(int64_t index) const { return intData[index]; }
  /// Element `index` of either.
  double value(int64_t index) const {
    return isFloat() ? floatData[index] : static_cast<double>(intData[index]);
  }

  std::vector<double> &floatValues() { return floatData; }
  const std::vector<double> &floatValues() const { return floatData; }
  std::vector<int64_t> &intValues() { return intData; }
  const std::vector<int64_t> &intValues() const { return intData; }

  /// Element `index` in memory, of the element kind, or f64 for any floats.
  void loadElement(int64_t index, ElementKind stored, const uint8_t *bytes);
  void storeElement(int64_t index, ElementKind stored, uint8_t *bytes) const;

  /// Rounds (or wraps) every element to the element kind.
  void roundElements();
  /// The same elements called `newKind`, which is floating point where this is.
  Tensor renamed(ElementKind newKind) const;

  bool hasType(mlir::RankedTensorType type) const;
  /// "8x4xf32".
  std::string typeText() const;
  /// "[[1, 2], [3, 4]]", at most `most` elements of a dimension.
  std::string text(int64_t most = 16) const;

private:
  std::vector<int64_t> dims;
  ElementKind elementKind;
  std::vector<double> floatData;
  std::vector<int64_t> intData;
};

/// Row-major strides in elements.
std::vector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// Calls `visit` with every index of `shape` in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// The flat position in a tensor of `shape` of an index of a broadcast result:
/// aligned at the last dimension, size 1 repeats.
int64_t broadcastOffset(llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> index);

} // namespace weft

#endif // WEFT_INTERP_TENSOR_H
