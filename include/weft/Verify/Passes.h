//===- Passes.h - Proofs about plans ----------------------------*- C++ -*-===//

#ifndef WEFT_VERIFY_PASSES_H
#define WEFT_VERIFY_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Verify/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Verify/Passes.h.inc"

} // namespace weft

#endif // WEFT_VERIFY_PASSES_H
