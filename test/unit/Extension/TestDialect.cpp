//===- TestDialect.cpp - The definitions ----------------------------------===//

#include "TestDialect.h"

using namespace mlir;
using namespace weft;
using namespace weft::test;

#include "TestDialect.cpp.inc"

#define GET_OP_CLASSES
#include "TestOps.cpp.inc"

void TestDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TestOps.cpp.inc"
      >();
}

std::optional<Layout> StrideOp::apply(const Layout &source) {
  Layout layout = source;
  layout.sizes[0] = getShape(getResult())[0];
  layout.strides[0] *= getStep();
  return layout;
}

SmallVector<unsigned> ScaleAddOp::getReusableOperands(unsigned,
                                                      const SymbolTable &) {
  return {1};
}

bool AddingScaleAddOp::canAccumulate(unsigned) { return true; }

SmallVector<unsigned> RunScaleAddOp::getInPlaceOperands(unsigned) {
  return {1};
}
