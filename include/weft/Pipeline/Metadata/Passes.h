//===- Passes.h - Metadata of an executable ---------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_METADATA_PASSES_H
#define WEFT_PIPELINE_METADATA_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Pipeline/Metadata/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Pipeline/Metadata/Passes.h.inc"

} // namespace weft

#endif // WEFT_PIPELINE_METADATA_PASSES_H
