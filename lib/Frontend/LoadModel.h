//===- LoadModel.h - Parts of the model loader ------------------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_LOADMODEL_H
#define WEFT_LIB_FRONTEND_LOADMODEL_H

#include "weft/Frontend/Frontend.h"

namespace weft {

/// Checks model.safetensors (or a sharded index) in `folder` against the
/// parameters of `module` and records `source` on parameters and `weft.weights`
/// on the module. Files that look like weights but are not read become
/// `weft.unread_weights`. Names in the files may leave out `optionalRoot`. A
/// link to no file is an error.
mlir::LogicalResult recordWeights(mlir::ModuleOp module,
                                  llvm::StringRef optionalRoot,
                                  const std::string &folder);

/// The same for the tensors of a GGUF file.
mlir::LogicalResult recordGgufWeights(mlir::ModuleOp module,
                                      llvm::StringRef optionalRoot,
                                      const std::string &path);

/// Records the files that an export takes along as `weft.companion_files`.
mlir::LogicalResult recordCompanions(mlir::ModuleOp module,
                                     llvm::ArrayRef<std::string> paths);

/// A model in the weft dialect.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadModelText(const std::string &path, const FrontendOptions &options,
              mlir::MLIRContext &context);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_LOADMODEL_H
