//===- Passes.h - From programs over values to plans ------------*- C++ -*-===//

#ifndef WEFT_LOWERING_PLAN_PASSES_H
#define WEFT_LOWERING_PLAN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Lowering/Plan/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Lowering/Plan/Passes.h.inc"

} // namespace weft

#endif // WEFT_LOWERING_PLAN_PASSES_H
