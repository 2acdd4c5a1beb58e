//===- CudaLibrary.cpp - Routines of CUDA devices -------------------------===//

#include "CudaLibrary.h"

#include "weft/Lowering/Kernel/StandardRoutines.h"

using namespace mlir;
using namespace weft;

namespace {
class CudaLibrary final : public KernelLibrary {
  StringRef getName() const override { return "cuda"; }
  StringRef getTitle() const override { return "CUDA"; }
  LibraryAnswer find(Operation *op) const override {
    return findRoutine(getStandardRoutines(), op);
  }
  bool hasPart(ProductPart part) const override {
    return part == ProductPart::Bias;
  }
  /// cuBLASLt takes a bias of the type of the result.
  bool mayMerge(ProductPart part, MatmulOp product) const override {
    return hasPart(part) && getElementTypeOrSelf(product.getLhs().getType()) ==
                                getElementTypeOrSelf(product.getType());
  }
};
} // namespace

void weft::registerCudaLibrary(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, WeftDialect *dialect) {
    KernelLibraries::of(*dialect).add(std::make_unique<CudaLibrary>());
  });
}
