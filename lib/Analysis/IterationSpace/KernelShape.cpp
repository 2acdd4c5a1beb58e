//===- KernelShape.cpp - Iteration shape of a kernel ----------------------===//

#include "weft/Analysis/KernelShape.h"

#include "weft/Weft/KernelFacts.h"

using namespace llvm;

using namespace mlir;
using namespace weft;

KernelShape KernelShape::get(KernelOp kernel) {
  return {kernel.getKind(), kernel.getSizes(), kernel.getOver(),
          kernel.getSums().value_or(ArrayRef<int64_t>())};
}

void KernelShape::set(KernelOp kernel) const {
  kernel.setKind(kind);
  kernel.setSizes(sizes);
  kernel.setOver(over);
  kernel.setSums(hasSums() ? std::optional<ArrayRef<int64_t>>(sums)
                           : std::nullopt);
}

FailureOr<KernelShape> KernelShape::get(FunctionOpInterface function) {
  auto kind =
      function->getAttrOfType<KernelKindAttr>(WeftDialect::kKernelKindAttr);
  auto sizes =
      function->getAttrOfType<DenseI64ArrayAttr>(WeftDialect::kSizesAttr);
  auto over =
      function->getAttrOfType<DenseI64ArrayAttr>(WeftDialect::kOverAttr);
  if (!kind || !sizes || !over)
    return function.emitOpError("expects weft.kernel_kind, weft.sizes and "
                                "weft.over, as "
                                "weft-convert-kernels-to-linalg writes them");
  std::optional<ArrayRef<int64_t>> sums;
  if (auto list =
          function->getAttrOfType<DenseI64ArrayAttr>(WeftDialect::kSumsAttr))
    sums = list.asArrayRef();
  std::string wrong = findWrongSpace(kind.getValue(), sizes, over, sums);
  if (!wrong.empty())
    return function.emitOpError(wrong);
  return KernelShape(kind.getValue(), sizes, over,
                     sums.value_or(ArrayRef<int64_t>()));
}

void KernelShape::set(FunctionOpInterface function) const {
  Builder b(function.getContext());
  function->setAttr(WeftDialect::kKernelKindAttr,
                    KernelKindAttr::get(b.getContext(), kind));
  function->setAttr(WeftDialect::kSizesAttr, b.getDenseI64ArrayAttr(sizes));
  function->setAttr(WeftDialect::kOverAttr, b.getDenseI64ArrayAttr(over));
  if (hasSums())
    function->setAttr(WeftDialect::kSumsAttr, b.getDenseI64ArrayAttr(sums));
}

int64_t KernelShape::getSummedRows() const {
  int64_t rows = 1;
  for (int64_t dim : sums)
    rows *= sizes[dim];
  return rows;
}

DimRole KernelShape::getRole(unsigned dim) const {
  if (dim + 1 == sizes.size())
    return DimRole::Lane;
  return is_contained(over, int64_t(dim)) ? DimRole::Inner : DimRole::Outer;
}

int64_t KernelShape::getCount(DimRole role) const {
  int64_t count = 1;
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (getRole(d) == role)
      count *= sizes[d];
  return count;
}

ValueDepth KernelShape::getDepth(unsigned dim) const {
  switch (getRole(dim)) {
  case DimRole::Outer:
    return ValueDepth::Outer;
  case DimRole::Inner:
    return ValueDepth::Inner;
  case DimRole::Lane:
    return ValueDepth::Lane;
  }
  llvm_unreachable("covered switch");
}

ValueDepth KernelShape::getDepth(const SpaceAccess &access) const {
  ValueDepth depth = ValueDepth::Outer;
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (access.dependsOn(d))
      depth = std::max(depth, getDepth(d));
  return depth;
}

std::string KernelShape::spell() const {
  std::string text = (stringifyKernelKind(kind) + " ").str() + spellList(sizes);
  if (!over.empty())
    text += " over " + spellList(over);
  return hasSums() ? text + " sums " + spellList(sums) : text;
}
