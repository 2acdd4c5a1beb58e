//===- Passes.h - From programs over values to plans ------------*- C++ -*-===//

#ifndef WEFT_LOWERING_PLAN_PASSES_H
#define WEFT_LOWERING_PLAN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// Which command of a plan runs a collective (CommandSourceOpInterface).
void registerCollectiveCommands(mlir::DialectRegistry &registry);

#define GEN_PASS_DECL
#include "weft/Lowering/Plan/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Lowering/Plan/Passes.h.inc"

} // namespace weft

#endif // WEFT_LOWERING_PLAN_PASSES_H
