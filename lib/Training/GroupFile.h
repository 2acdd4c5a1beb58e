//===- GroupFile.h - Parameter groups from a TOML file ----------*- C++ -*-===//

#ifndef WEFT_LIB_TRAINING_GROUPFILE_H
#define WEFT_LIB_TRAINING_GROUPFILE_H

#include "mlir/IR/Location.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// One `[[group]]` of a file.
struct ParameterGroup {
  mlir::Location location;
  std::string match;
  std::optional<bool> frozen;
  std::optional<double> decay;
  std::optional<double> lrScale;
  std::optional<std::string> optimizer;
  std::optional<std::string> name; // of the optimizer instance
  /// Hyper-parameters that the group fixes, by name.
  std::map<std::string, double> numbers;
  std::optional<bool> nesterov;

  explicit ParameterGroup(mlir::Location location) : location(location) {}
};

struct GroupFile {
  std::vector<ParameterGroup> groups;
  std::string digest; // of the text, see TomlFile
};

/// Reads the groups, or emits an error at the line of the file.
llvm::FailureOr<GroupFile> readGroupFile(mlir::MLIRContext *context,
                                         llvm::StringRef path);

} // namespace weft

#endif // WEFT_LIB_TRAINING_GROUPFILE_H
