//===- ProgramEdits.cpp - Small edits of programs -------------------------===//

#include "ProgramEdits.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace weft {

Value makeScalar(OpBuilder &builder, Location loc, Type type, double number) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute value = builder.getFloatAttr(tensor.getElementType(), number);
  return ConstantOp::create(
      builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(tensor, value)));
}

void eraseDeadOps(ProgramOp program) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace weft
