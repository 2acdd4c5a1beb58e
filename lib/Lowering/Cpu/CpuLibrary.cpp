//===- CpuLibrary.cpp - Routines of the CPU -------------------------------===//
//
// What kernels/cpu runs. An accumulation that no product performs is generated:
// it can then be one kernel with what makes its operands.
//
//===----------------------------------------------------------------------===//

#include "CpuModels.h"

#include "weft/Analysis/KernelLibrary.h"
#include "weft/Runtime/Execute/Workspaces.h"

using namespace mlir;
using namespace weft;

static constexpr unsigned kAdamMoments = 1 << 1 | 1 << 2, kSgdMoments = 1 << 1;

static const LibraryRoutine kRoutines[] = {
    {"weft.matmul", UpToF32},
    {"weft.gemm", UpToF32},
    {"weft.attention", UpToF32},
    {"weft.attention_grad", UpToF32},
    {"weft.cross_entropy", UpToF32},
    {"weft.cross_entropy_grad", UpToF32},
    {"weft.embedding", UpToF32},
    {"weft.embedding_grad", UpToF32},
    {"weft.dropout", UpToF32},
    {"weft.random_normal"},
    {"weft.random_uniform"},
    {"weft.norm_and_check", UpToF32, kAllOperands},
    {"weft.total_norm", NoFloat, 0},
    {"weft.clip_coefficient", NoFloat, 0},
    {"weft.step_increment", NoFloat, 0},
    {"weft.scaler_update", NoFloat, 0},
    {"weft.adamw", UpToF32, 4, kAdamMoments},
    {"weft.adam", UpToF32, 4, kAdamMoments},
    {"weft.sgd", UpToF32, 3, kSgdMoments},
};

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
    return findRoutine(kRoutines, op);
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
