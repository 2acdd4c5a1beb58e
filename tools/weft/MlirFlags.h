//===- MlirFlags.h - --mlir-* flags of the driver ---------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MLIRFLAGS_H
#define WEFT_TOOLS_WEFT_MLIRFLAGS_H

#include "weft/Formats/Error.h"

#include <string>
#include <vector>

namespace weft {

/// Hands `--mlir-...` flags (printing between passes, timing, ...) to MLIR's
/// own command line; call before a context is made.
Status applyMlirFlags(const std::vector<std::string> &args);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_MLIRFLAGS_H
