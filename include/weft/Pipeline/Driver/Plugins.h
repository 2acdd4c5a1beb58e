//===- Plugins.h - Passes and dialects of others ----------------*- C++ -*-===//
//
// A plug-in is a shared library with MLIR's entry points for passes
// (mlirGetPassPluginInfo), dialects (mlirGetDialectPluginInfo) or both. It
// takes the symbols of weft from the tool that loads it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_DRIVER_PLUGINS_H
#define WEFT_PIPELINE_DRIVER_PLUGINS_H

#include "weft/Base/Flags.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// Loads a plug-in and registers its passes, once per process. An input error
/// at `path` if it is no plug-in for this MLIR. It stays loaded, since contexts
/// and the pass registry point into it. Not thread-safe.
Status loadPlugin(const std::string &path);

/// Whether MLIR's own flags for plug-ins can load a file: they ignore a file
/// that they cannot load. Registers nothing.
Status checkPlugin(const std::string &path);

/// Loads each file of --load-pass-plugin.
Status loadPlugins(const FlagValues &flags);

/// Loads plug-ins and inserts their dialects.
Status registerPluginDialects(const std::vector<std::string> &paths,
                              mlir::DialectRegistry &registry);

/// The files of --load-pass-plugin in the weft.options of a dump's text. They
/// must be loaded before the text can be parsed.
std::vector<std::string> findPluginsOfDump(llvm::StringRef text);

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_PLUGINS_H
