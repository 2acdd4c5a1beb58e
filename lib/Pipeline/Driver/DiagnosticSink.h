//===- DiagnosticSink.h - MLIR diagnostics become weft errors ---*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_DRIVER_DIAGNOSTICSINK_H
#define WEFT_LIB_PIPELINE_DRIVER_DIAGNOSTICSINK_H

#include "weft/Pipeline/Driver/Compiler.h"

#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace weft {

/// Keeps the first error of a compilation; prints warnings, remarks and later
/// errors in the project's form.
class Compiler::DiagnosticSink {
public:
  explicit DiagnosticSink(mlir::MLIRContext &context);
  ~DiagnosticSink();

  /// The first error, or an internal one if nothing was said.
  Error takeError(const std::string &what);
  /// Text of the warnings and remarks, without the remarks of --explain. Lines
  /// about training are marked.
  const std::string &notices() const { return kept; }

  bool showsTrainingNotices = true;

private:
  llvm::LogicalResult handle(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID handler;
  std::optional<Error> first;
  std::string kept;
};

/// Turns on optimization remarks of a category and prints them as remarks in
/// the project's form. An empty category turns all off.
llvm::LogicalResult printRemarks(mlir::MLIRContext &context,
                                 const std::string &category);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_DRIVER_DIAGNOSTICSINK_H
