//===- LowerKernels.cpp - Write kernels as loops over vectors -------------===//

#include "KernelEmitter.h"
#include "weft/Lowering/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

namespace weft {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "weft/Lowering/Cpu/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Lets a function call one of equal code before it.
static void forward(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp to) {
  Region &body = function.getBody();
  body.dropAllReferences();
  body.getBlocks().clear();
  OpBuilder b(function.getContext());
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  LLVM::CallOp::create(b, function.getLoc(), to, entry->getArguments());
  LLVM::ReturnOp::create(b, function.getLoc(), ValueRange());
}

/// Sums over rows are for blocks of a device.
static LogicalResult checkSums(func::FuncOp function,
                               const LinalgKernel &kernel) {
  if (!kernel.getShape().hasSums())
    return success();
  return function.emitOpError(
      "does not support sums over rows in a kernel of rows on the CPU yet; "
      "use a kernel of columns for them");
}

namespace {

/// Functions with different code, found by a hash that is cheap to compute.
class DistinctCode {
public:
  /// Functions of kernels that differ in the size of their range alone have
  /// equal code, which is written once.
  void add(LLVM::LLVMFuncOp function) {
    auto &alike = functions[hash(function)];
    for (LLVM::LLVMFuncOp known : alike)
      if (OperationEquivalence::isRegionEquivalentTo(
              &known.getBody(), &function.getBody(),
              OperationEquivalence::IgnoreLocations))
        return forward(function, known);
    alike.push_back(function);
  }

private:
  static llvm::hash_code hash(LLVM::LLVMFuncOp function) {
    llvm::hash_code code = 0;
    function.getBody().walk([&](Operation *op) {
      auto one = OperationEquivalence::computeHash(
          op, OperationEquivalence::ignoreHashValue,
          OperationEquivalence::ignoreHashValue,
          OperationEquivalence::IgnoreLocations);
      code = llvm::hash_combine(code, one);
    });
    return code;
  }

  std::map<size_t, SmallVector<LLVM::LLVMFuncOp, 1>> functions;
};

struct LowerKernelsPass : weft::impl::LowerKernelsPassBase<LowerKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    DistinctCode code;
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      FailureOr<LinalgKernel> kernel = LinalgKernel::get(function);
      if (failed(kernel) || failed(checkSums(function, *kernel)))
        return signalPassFailure();
      code.add(KernelEmitter(function, *kernel).emit());
      function.erase();
    }
  }
};

} // namespace
