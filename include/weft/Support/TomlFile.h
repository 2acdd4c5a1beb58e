//===- TomlFile.h - TOML files with locations -------------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_TOMLFILE_H
#define WEFT_SUPPORT_TOMLFILE_H

#include "mlir/IR/BuiltinOps.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace weft {

/// The line of `path` that a node or an error stands in.
mlir::Location locateToml(mlir::MLIRContext *context, llvm::StringRef path,
                          const toml::source_region &source);

struct TomlFile {
  toml::table table;
  std::string digest; // XXH3 of its text, 32 hexadecimal digits
};

/// The table in a file, or an error at its line. `what` names the file in the
/// message: "expects a readable <what>, but got: ...".
llvm::FailureOr<TomlFile> readTomlFile(mlir::MLIRContext *context,
                                       llvm::StringRef path,
                                       llvm::StringRef what);

/// The module's attribute that maps the name of a compile flag to the digest of
/// the file that it named, so that a resumed run can tell one from another.
constexpr llvm::StringLiteral kOptionFilesAttr = "weft.option_files";

/// Adds an entry to that attribute.
void recordOptionFile(mlir::ModuleOp module, llvm::StringRef flag,
                      llvm::StringRef digest);

/// A value as text for messages: a string in quotes, else its kind.
std::string describeToml(const toml::node &value);

/// Reads one file; every error names the line.
class TomlReader {
public:
  TomlReader(mlir::MLIRContext *context, llvm::StringRef path)
      : context(context), path(path) {}

protected:
  mlir::Location locate(const toml::node &node) const {
    return locateToml(context, path, node.source());
  }
  mlir::InFlightDiagnostic report(const toml::node &node,
                                  const llvm::Twine &message = "") const {
    return mlir::emitError(locate(node), message);
  }
  /// An error at the top of a file: it expects `expected`, but has none.
  mlir::InFlightDiagnostic reportNone(const llvm::Twine &expected) const;
  /// Reads a value into `target` as a regular expression of bounded cost, or
  /// reports an error at it; `key` is its key.
  llvm::LogicalResult readPattern(llvm::StringRef key, const toml::node &value,
                                  std::string &target) const;

  mlir::MLIRContext *context;
  llvm::StringRef path;
};

} // namespace weft

#endif // WEFT_SUPPORT_TOMLFILE_H
