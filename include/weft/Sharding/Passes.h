//===- Passes.h - Sharding over the ranks of a mesh -------------*- C++ -*-===//

#ifndef WEFT_SHARDING_PASSES_H
#define WEFT_SHARDING_PASSES_H

#include "weft/Dist/Dist.h"

#include "mlir/Pass/Pass.h"

namespace weft {

/// The micro-steps that reduce sharded gradients.
enum class Sync { Each, Last };

#define GEN_PASS_DECL
#include "weft/Sharding/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Sharding/Passes.h.inc"

} // namespace weft

#endif // WEFT_SHARDING_PASSES_H
