//===- Passes.h - Mixed precision -------------------------------*- C++ -*-===//

#ifndef WEFT_PRECISION_PASSES_H
#define WEFT_PRECISION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Precision/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Precision/Passes.h.inc"

} // namespace weft

#endif // WEFT_PRECISION_PASSES_H
