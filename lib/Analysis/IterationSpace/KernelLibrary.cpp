//===- KernelLibrary.cpp - Library routines of a target -------------------===//

#include "weft/Analysis/KernelLibrary.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

StringRef weft::stringifyProductPart(ProductPart part) {
  switch (part) {
  case ProductPart::Bias:
    return "bias";
  case ProductPart::Relu:
    return "relu";
  case ProductPart::Gelu:
    return "gelu";
  case ProductPart::ReluGrad:
    return "relu_grad";
  case ProductPart::GeluGrad:
    return "gelu_grad";
  case ProductPart::ColumnSum:
    return "column_sum";
  case ProductPart::LhsSum:
    return "lhs_sum";
  case ProductPart::RhsSum:
    return "rhs_sum";
  }
  llvm_unreachable("a part of a product without a name");
}

static std::optional<ProductPart> getPart(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::None:
    return std::nullopt;
  case Epilogue::Relu:
    return ProductPart::Relu;
  case Epilogue::Gelu:
    return ProductPart::Gelu;
  case Epilogue::ReluGrad:
    return ProductPart::ReluGrad;
  case Epilogue::GeluGrad:
    return ProductPart::GeluGrad;
  }
  llvm_unreachable("an epilogue that is no part of a product");
}

SmallVector<ProductPart> weft::getProductParts(GemmOp op) {
  SmallVector<ProductPart> parts;
  if (op.getBias())
    parts.push_back(ProductPart::Bias);
  if (std::optional<ProductPart> part = getPart(op.getEpilogue()))
    parts.push_back(*part);
  if (op.getColumnSum())
    parts.push_back(ProductPart::ColumnSum);
  if (op.getLhsSum())
    parts.push_back(ProductPart::LhsSum);
  if (op.getRhsSum())
    parts.push_back(ProductPart::RhsSum);
  return parts;
}

KernelLibraries &KernelLibraries::of(Dialect &dialect) {
  if (auto *libraries = dialect.getRegisteredInterface<KernelLibraries>())
    return *libraries;
  return dialect.addInterface<KernelLibraries>();
}

const KernelLibrary *KernelLibraries::find(StringRef name) const {
  for (const std::unique_ptr<KernelLibrary> &library : libraries)
    if (library->getName() == name)
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
                         : 0;
}

/// The first element type of the op that the routine does not take, or null.
static Type findUnsupported(const LibraryRoutine &routine, Operation *op) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (Type element = getElementTypeOrSelf(type);
          isa<FloatType>(element) && !(getFloats(element) & routine.floats))
        return element;
  return Type();
}

LibraryAnswer weft::findRoutine(ArrayRef<LibraryRoutine> routines,
                                Operation *op) {
  for (const LibraryRoutine &routine : routines)
    if (op->getName().getStringRef() == routine.op)
      return {true, findUnsupported(routine, op)};
  return {};
}
