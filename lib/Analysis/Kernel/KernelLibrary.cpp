//===- KernelLibrary.cpp - What a target runs by routines -----------------===//

#include "weft/Analysis/KernelLibrary.h"

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

static constexpr std::pair<ProductPart, StringLiteral> kParts[] = {
    {ProductPart::Bias, "bias"},
    {ProductPart::Relu, "relu"},
    {ProductPart::Gelu, "gelu"},
    {ProductPart::ReluGrad, "relu_grad"},
    {ProductPart::GeluGrad, "gelu_grad"},
    {ProductPart::ColumnSum, "column_sum"},
};

StringRef stringifyProductPart(ProductPart part) {
  return llvm::find_if(kParts, [&](auto &entry) { return entry.first == part; })
      ->second;
}

std::optional<ProductPart> parseProductPart(StringRef name) {
  for (auto &[part, spelling] : kParts)
    if (spelling == name)
      return part;
  return std::nullopt;
}

KernelLibraries &KernelLibraries::of(Dialect &dialect) {
  if (auto *libraries = dialect.getRegisteredInterface<KernelLibraries>())
    return *libraries;
  return dialect.addInterface<KernelLibraries>();
}

const KernelLibrary *KernelLibraries::find(StringRef name) const {
  for (const std::unique_ptr<KernelLibrary> &library : libraries)
    if (name.empty() || library->getName() == name)
      return library.get();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Libraries that are tables
//===----------------------------------------------------------------------===//

static unsigned getFloats(Type type) {
  return type.isF32()    ? F32
         : type.isF64()  ? F64
         : type.isF16()  ? F16
         : type.isBF16() ? BF16
                         : NoFloat;
}

/// The first element type of the op that the routine does not take, or null.
static Type findUnsupported(const LibraryRoutine &routine, Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  if (routine.numValues == kAllValues)
    types.append(op->result_type_begin(), op->result_type_end());
  else
    types.resize(std::min<size_t>(types.size(), routine.numValues));
  for (auto [index, type] : llvm::enumerate(types)) {
    bool isWide = index < op->getNumOperands() && index < 32 &&
                  (routine.wideOperands >> index & 1);
    unsigned floats = getFloats(getElementTypeOrSelf(type));
    if (floats & ~(isWide ? F32 : routine.floats))
      return getElementTypeOrSelf(type);
  }
  return Type();
}

LibraryAnswer findRoutine(ArrayRef<LibraryRoutine> routines, Operation *op) {
  for (const LibraryRoutine &routine : routines)
    if (op->getName().getStringRef() == routine.op)
      return {true, findUnsupported(routine, op)};
  return {};
}

} // namespace weft
