//===- MpiRun.h - Ranks that mpirun starts ----------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MPIRUN_H
#define WEFT_TOOLS_WEFT_MPIRUN_H

#include "Commands.h"

namespace weft {

/// Runs `program` (a path) with its arguments as `ranks` processes of mpirun,
/// which bind themselves to equal parts of the processors that this process may
/// use. SIGTERM, SIGINT and SIGHUP become the SIGUSR1 that ranks stop and save
/// at; a second one ends them. All of them end with this process. The exit code
/// is that of the ranks; a rank that a signal has ended is exit 7 that names
/// it.
Expected<ExitCode> runRanks(int64_t ranks, const std::string &program,
                            const Arguments &args);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_MPIRUN_H
