//===- Passes.h - Time and order of commands --------------------*- C++ -*-===//

#ifndef WEFT_SCHEDULE_PASSES_H
#define WEFT_SCHEDULE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Schedule/Passes.h.inc"

} // namespace weft

#endif // WEFT_SCHEDULE_PASSES_H
