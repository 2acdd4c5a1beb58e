//===- ErrorWatch.h - Whether a callback reported its error -----*- C++ -*-===//
//
// Methods of an op in a plug-in may fail without a diagnostic. A pass that
// calls them watches for errors, so that it can name the op itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_WEFT_ERRORWATCH_H
#define WEFT_WEFT_ERRORWATCH_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

namespace weft {

/// Counts the errors that the current thread emits. Other handlers still get
/// every diagnostic.
class ErrorWatch {
public:
  explicit ErrorWatch(mlir::MLIRContext *context)
      : handler(context, [this, thread = llvm::get_threadid()](
                             mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
              llvm::get_threadid() == thread)
            ++numErrors;
          return llvm::failure();
        }) {}

  bool hasErrors() const { return numErrors > 0; }

private:
  int numErrors = 0;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace weft

#endif // WEFT_WEFT_ERRORWATCH_H
