//===- CpuLibrary.cpp - Routines of the CPU -------------------------------===//
//
// Tells select-kernels which ops and product parts kernels/cpu implements.
//
//===----------------------------------------------------------------------===//

#include "CpuLibrary.h"

#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Lowering/Linalg/StandardRoutines.h"

using namespace mlir;
using namespace weft;

/// Length of the sums of a product.
static int64_t getDepth(MatmulOp product) {
  ArrayRef<int64_t> shape = getShape(product.getLhs());
  return shape[shape.size() - (product.getTransposeLhs() ? 2 : 1)];
}

namespace {
class CpuLibrary final : public KernelLibrary {
  StringRef getName() const override { return "cpu"; }
  StringRef getTitle() const override { return "the CPU"; }
  LibraryAnswer find(Operation *op) const override {
    return findRoutine(getStandardRoutines(), op);
  }
  bool hasPart(ProductPart part) const override {
    return part == ProductPart::Bias;
  }
  /// A long product runs in stages and adds its bias in the first one; an op
  /// behind it adds to the whole sum.
  bool mayMerge(ProductPart part, MatmulOp product) const override {
    return hasPart(part) && getDepth(product) <= kLongestTransposedK;
  }
};
} // namespace

void weft::registerCpuLibrary(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, WeftDialect *dialect) {
    KernelLibraries::of(*dialect).add(std::make_unique<CpuLibrary>());
  });
}
