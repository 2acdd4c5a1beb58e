//===- MlirFlags.h - --mlir-* flags of the driver ---------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MLIRFLAGS_H
#define WEFT_TOOLS_WEFT_MLIRFLAGS_H

#include "weft/Base/Flags.h"

#include <string>
#include <vector>

namespace weft {

/// The flags of a command that takes one MODEL and `--mlir-...` flags, which
/// are passed through. `program` ("weft compile") is who to ask for help.
Expected<FlagValues> parseModelFlags(const FlagTable &table,
                                     const char *program,
                                     const std::vector<std::string> &args,
                                     FlagParseOptions options = {});

/// Hands `--mlir-...` flags (printing between passes, timing, ...) to MLIR's
/// own command line; call before a context is made.
Status applyMlirFlags(const std::vector<std::string> &args);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_MLIRFLAGS_H
