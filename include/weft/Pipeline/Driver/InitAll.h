//===- InitAll.h - Registration of everything -------------------*- C++ -*-===//
//
// The one place where dialects, op models, passes and targets are registered.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_DRIVER_INITALL_H
#define WEFT_PIPELINE_DRIVER_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// Inserts every dialect a weft module may contain, with the op models.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass for textual pipelines (weft-opt, reproducers).
void registerAllPasses();

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_INITALL_H
