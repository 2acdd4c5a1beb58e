//===- Fingerprint.h - Identity of a model ----------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_FINGERPRINT_H
#define WEFT_PIPELINE_FINGERPRINT_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Stores `weft.fingerprint`, a digest of the imported model: parameters
/// (names, types, ties) and computation. Batch, sequence length, optimizer and
/// target do not enter: a checkpoint fits every program of the same model.
void storeFingerprint(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PIPELINE_FINGERPRINT_H
