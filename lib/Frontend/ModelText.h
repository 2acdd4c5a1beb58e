//===- ModelText.h - Models in the weft dialect -----------------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_MODELTEXT_H
#define WEFT_LIB_FRONTEND_MODELTEXT_H

#include "weft/Frontend/Frontend.h"

namespace weft {

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadModelText(const std::string &path, const FrontendOptions &options,
              mlir::MLIRContext &context);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_MODELTEXT_H
