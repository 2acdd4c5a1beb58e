//===- RuntimeFolder.h - Libraries beside the tool --------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_TARGETS_RUNTIMEFOLDER_H
#define WEFT_PIPELINE_TARGETS_RUNTIMEFOLDER_H

#include "weft/Base/Error.h"

#include <string>

namespace weft {

/// The archive with main() of programs that link no MPI.
inline constexpr const char *kRuntimeMain = "libWeftRuntimeMain.a";

/// The path of the running tool, behind links.
Expected<std::string> runningTool();

/// The folder of the runtime's libraries, beside the running tool: ../lib or
/// ../lib/weft.
Expected<std::string> runtimeFolder();

} // namespace weft

#endif // WEFT_PIPELINE_TARGETS_RUNTIMEFOLDER_H
