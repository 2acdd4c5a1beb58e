//===- Ext.cpp - The dialect ext ------------------------------------------===//

#include "Ext.h"

#include "mlir/IR/DialectImplementation.h"

#include "ExtDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ExtOps.cpp.inc"

void ext::ExtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ExtOps.cpp.inc"
      >();
}
