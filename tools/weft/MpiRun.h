//===- MpiRun.h - Ranks that mpirun starts ----------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MPIRUN_H
#define WEFT_TOOLS_WEFT_MPIRUN_H

#include "ToolCommands.h"

namespace weft {

/// Runs `program` (a path) with its arguments as `ranks` processes of mpirun,
/// which bind themselves to equal parts of the processors that this process may
/// use. The first SIGTERM, SIGINT, SIGHUP or SIGUSR1 becomes the SIGUSR1 that
/// ranks stop and save at, as soon as all of them can keep it; a second SIGINT
/// or SIGTERM ends them. All of them end with this process. The ranks give the
/// exit code. A rank that a signal has ended, or that is silent while it starts
/// or ends, is exit 7 that names it.
Expected<ExitCode> runRanks(int64_t ranks, const std::string &program,
                            const Arguments &args);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_MPIRUN_H
