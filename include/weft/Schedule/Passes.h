//===- Passes.h - Time and order of commands --------------------*- C++ -*-===//

#ifndef WEFT_SCHEDULE_PASSES_H
#define WEFT_SCHEDULE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

/// The library that adds gradients: weft in the order of ranks, or NCCL. Auto:
/// NCCL across nodes.
enum class Reduction { Auto, Ordered, Native };

#define GEN_PASS_DECL
#include "weft/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Schedule/Passes.h.inc"

} // namespace weft

#endif // WEFT_SCHEDULE_PASSES_H
