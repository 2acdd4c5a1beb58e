//===- Passes.h - Mixed precision -------------------------------*- C++ -*-===//

#ifndef WEFT_PRECISION_PASSES_H
#define WEFT_PRECISION_PASSES_H

#include "weft/Interfaces/CastPolicy.h"

#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Precision/Passes.h.inc"

/// A table of all ops that may stand in a model: their policies in PyTorch's
/// lists and in the recipes, and PyTorch's names.
std::string castPoliciesMarkdown();

#define GEN_PASS_REGISTRATION
#include "weft/Precision/Passes.h.inc"

} // namespace weft

#endif // WEFT_PRECISION_PASSES_H
