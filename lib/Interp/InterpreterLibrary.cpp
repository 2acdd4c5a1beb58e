//===- InterpreterLibrary.cpp - The interpreter as a library --------------===//
//
// As a library the interpreter has a routine for every kind of command, in any
// type, and products with all their parts. The option
// --weft-select-kernels=library=interpreter shows and compares all ops that a
// target could claim.
//
//===----------------------------------------------------------------------===//

#include "OpFunctions.h"
#include "RunCollectives.h"

#include "weft/Analysis/Implementations.h"
#include "weft/Analysis/KernelLibrary.h"
#include "weft/Dist/Dist.h"

using namespace mlir;
using namespace weft;

namespace {
class InterpreterLibrary final : public KernelLibrary {
  StringRef getName() const override { return "interpreter"; }
  StringRef getTitle() const override { return "the interpreter"; }
  LibraryAnswer find(Operation *op) const override {
    return {!getCommandKind(op).empty(), Type()};
  }
  bool hasPart(ProductPart) const override { return true; }
};
} // namespace

void weft::registerInterpreter(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *dialect) {
    KernelLibraries::of(*dialect).add(std::make_unique<InterpreterLibrary>());
    for (auto add : {addStructureOps, addElementwiseOps, addShapeOps,
                     addMatmulOps, addNormOps, addAttentionOps, addLossOps,
                     addRandomOps, addTrainingOps, addScalerOps})
      add(context);
  });
  registry.addExtension(+[](MLIRContext *context, plan::PlanDialect *) {
    for (auto add : {addStructureCommands, addMatmulCommands,
                     addAttentionCommands, addCollectiveCommands})
      add(context);
  });
  registry.addExtension(+[](MLIRContext *context, dist::DistDialect *) {
    addCollectives(context);
  });
}
