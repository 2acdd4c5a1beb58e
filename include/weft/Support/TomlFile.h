//===- TomlFile.h - TOML files with locations -------------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_TOMLFILE_H
#define WEFT_SUPPORT_TOMLFILE_H

#include "mlir/IR/Location.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace weft {

/// The line of `path` that a node or an error stands in.
mlir::Location locateToml(mlir::MLIRContext *context, llvm::StringRef path,
                          const toml::source_region &source);

/// The table in a file, or an error at its line. `what` names the file in the
/// message: "expects a readable <what>, but got: ...".
llvm::FailureOr<toml::table> readTomlFile(mlir::MLIRContext *context,
                                          llvm::StringRef path,
                                          llvm::StringRef what);

/// What a value is, for messages: a string in quotes, else its kind.
std::string describeToml(const toml::node &value);

} // namespace weft

#endif // WEFT_SUPPORT_TOMLFILE_H
