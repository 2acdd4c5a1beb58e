//===- OverrideFile.h - Cast policies from a TOML file ----------*- C++ -*-===//

#ifndef WEFT_LIB_PRECISION_OVERRIDEFILE_H
#define WEFT_LIB_PRECISION_OVERRIDEFILE_H

#include "weft/Interfaces/CastPolicy.h"

#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace weft {

/// One `[[override]]` of a file.
struct CastOverride {
  mlir::Location location;
  /// "overrides.toml:3", for remarks.
  std::string place;
  /// Regular expressions; "": every op, every scope.
  std::string op;
  std::string scope;
  std::optional<CastPolicy> policy;
  /// Whether it matched an op of the model so far, and whether it applied to
  /// one, since no earlier override matched that op.
  bool matches = false;
  bool claims = false;

  explicit CastOverride(mlir::Location location) : location(location) {}
};

/// Contents of an override file.
struct OverrideFile {
  std::optional<CastLists> lists;
  std::vector<CastOverride> overrides;
  std::string digest; // of the text, see TomlFile
};

/// Reads the overrides, or emits an error at the line of the file.
llvm::FailureOr<OverrideFile> readOverrideFile(mlir::MLIRContext *context,
                                               llvm::StringRef path);

} // namespace weft

#endif // WEFT_LIB_PRECISION_OVERRIDEFILE_H
