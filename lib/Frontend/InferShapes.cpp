//===- InferShapes.cpp - Check that every shape is static -----------------===//

#include "weft/Frontend/Passes.h"

#include "weft/Weft/Weft.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace weft {
#define GEN_PASS_DEF_INFERSHAPESPASS
#include "weft/Frontend/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Sizes in bytes stay far from overflow below this.
static constexpr int64_t kMaxElements = int64_t(1) << 40;

/// The requirement that `type` violates, or "". The ops themselves verify that
/// shapes are static.
static StringRef findProblem(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "";
  int64_t elements = 1;
  for (int64_t size : tensor.getShape()) {
    std::optional<int64_t> product = llvm::checkedMul(elements, size);
    if (!product || *product > kMaxElements)
      return "at most 2^40 elements";
    elements = *product;
  }
  return "";
}

/// Reports a bad type of `what` ("input 0", "result 1").
static LogicalResult checkType(Operation *op, const Twine &what, Type type) {
  StringRef problem = findProblem(type);
  if (problem.empty())
    return success();
  return op->emitOpError("expects ")
         << what << " to have " << problem << ", but got " << type;
}

static LogicalResult checkProgram(ProgramOp program) {
  for (auto [index, type] : llvm::enumerate(program.getArgumentTypes()))
    if (failed(checkType(program, "input " + Twine(index), type)))
      return failure();
  WalkResult walk = program.getBody().walk([](Operation *op) {
    for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
      if (failed(checkType(op, "result " + Twine(index), type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult weft::verifyShapes(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<ParamOp, StateOp>([](auto decl) {
              return checkType(decl, "its type", decl.getType());
            })
            .Case([](ProgramOp program) { return checkProgram(program); })
            .Default([](Operation *) { return success(); });
    if (failed(result))
      return failure();
  }
  return success();
}

namespace {
struct InferShapesPass : weft::impl::InferShapesPassBase<InferShapesPass> {
  void runOnOperation() override {
    if (failed(verifyShapes(getOperation())))
      signalPassFailure();
  }
};
} // namespace
