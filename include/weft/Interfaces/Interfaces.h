//===- Interfaces.h - What an op knows about itself -------------*- C++ -*-===//

#ifndef WEFT_INTERFACES_INTERFACES_H
#define WEFT_INTERFACES_INTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"

#include "weft/Interfaces/CastPolicy.h"
#include "weft/Interfaces/Optimizer.h"
#include "weft/Interfaces/RowFlow.h"
#include "weft/Interfaces/Segments.h"
#include "weft/Layout/Layout.h"

namespace weft {
struct OpCall;
} // namespace weft

#include "weft/Interfaces/Interfaces.h.inc"

#endif // WEFT_INTERFACES_INTERFACES_H
