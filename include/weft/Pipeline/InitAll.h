//===- InitAll.h - Registration of everything -------------------*- C++ -*-===//
//
// The one place where dialects, op models, passes and targets are registered.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_INITALL_H
#define WEFT_PIPELINE_INITALL_H

#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

struct TargetKind;

/// Inserts every dialect a weft module may contain, with the op models.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass for textual pipelines (weft-opt, reproducers).
void registerAllPasses();

/// The kinds of targets that targetKinds() starts with, the default one first.
std::vector<TargetKind> builtinTargets();

} // namespace weft

#endif // WEFT_PIPELINE_INITALL_H
