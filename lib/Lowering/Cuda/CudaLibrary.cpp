//===- CudaLibrary.cpp - Routines of CUDA devices -------------------------===//

#include "CudaLibrary.h"

#include "weft/Abi/CudaProducts.h"
#include "weft/Lowering/Linalg/StandardRoutines.h"
#include "weft/Lowering/Table/Routines.h"

using namespace mlir;
using namespace weft;

namespace {
class CudaLibrary final : public KernelLibrary {
  StringRef getName() const override { return "cuda"; }
  StringRef getTitle() const override { return "CUDA"; }
  LibraryAnswer find(Operation *op) const override {
    return findRoutine(getStandardRoutines(), op);
  }
  /// cuBLASLt's gelu is that with tanh; its relu keeps bits, not sums.
  bool hasPart(ProductPart part) const override {
    return part != ProductPart::ReluGrad;
  }
  std::string findObstacle(ProductPart part,
                           const PartialProduct &product) const override;
  bool roundsOnce() const override { return true; }
};
} // namespace

/// Whether the rows of all batches lie behind each other, on the left and in
/// the result: one matrix to cuBLASLt.
static bool isOneMatrix(MatmulOp product) {
  if (getShape(product.getResult()).size() == 2)
    return true;
  const bool isShared =
      getShape(product.getRhs()).size() == 2 && !product.getTransposeLhs();
  Operation *source = skipViews(product.getLhs()).getDefiningOp();
  return isShared && !isa_and_nonnull<SliceOp>(source) &&
         llvm::none_of(product.getResult().getUsers(), llvm::IsaPred<ConcatOp>);
}

/// The epilogue of the product after the part is merged into it.
static int64_t getEpilogue(ProductPart part, Epilogue before) {
  if (part == ProductPart::Relu)
    return WEFT_EPILOGUE_RELU;
  if (part == ProductPart::Gelu)
    return WEFT_EPILOGUE_GELU;
  if (part == ProductPart::GeluGrad)
    return WEFT_EPILOGUE_GELU_GRAD;
  return static_cast<int64_t>(before);
}

/// The record of the product with that part, as far as epilogues depend on it.
static WeftGemmRecord describe(ProductPart part,
                               const PartialProduct &partial) {
  MatmulOp product = partial.product;
  ArrayRef<int64_t> shape = getShape(product.getResult());
  WeftGemmRecord record = {};
  record.m = shape[shape.size() - 2];
  record.n = shape.back();
  record.batch = isOneMatrix(product) ? 1 : 2; // one or some
  record.dtype = getDType(getElementTypeOrSelf(product.getLhs().getType()));
  record.dtypeC = getDType(getElementTypeOrSelf(product.getType()));
  record.hasBias = partial.hasBias || part == ProductPart::Bias;
  record.hasColumnSum = partial.hasColumnSum || part == ProductPart::ColumnSum;
  record.hasSumA = partial.hasLhsSum || part == ProductPart::LhsSum;
  record.hasSumB = partial.hasRhsSum || part == ProductPart::RhsSum;
  record.epilogue = getEpilogue(part, partial.epilogue);
  const bool isActivation =
      part == ProductPart::Relu || part == ProductPart::Gelu;
  record.hasAux = record.epilogue == WEFT_EPILOGUE_GELU_GRAD ||
                  (isActivation && partial.keepsSum);
  return record;
}

std::string CudaLibrary::findObstacle(ProductPart part,
                                      const PartialProduct &product) const {
  return findWrongEpilogue(describe(part, product));
}

void weft::registerCudaLibrary(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, WeftDialect *dialect) {
    KernelLibraries::of(*dialect).add(std::make_unique<CudaLibrary>());
  });
}
