//===- Fingerprint.h - Identity of a model ----------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_METADATA_FINGERPRINT_H
#define WEFT_PIPELINE_METADATA_FINGERPRINT_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Stores `weft.fingerprint`, a digest of the imported model: parameters
/// (names, types, ties) and computation. Batch, sequence length, optimizer and
/// target do not enter: a checkpoint fits every program of the same model.
///
/// This is version 2. Version 1, in `weft.fingerprint_1`, also covered dropout,
/// epsilons and `initializer_range`; older checkpoints hold it. What version 2
/// leaves out of the computation is stored as text in `weft.adjustable`, so
/// that a resumed run can name a change.
void storeFingerprint(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PIPELINE_METADATA_FINGERPRINT_H
