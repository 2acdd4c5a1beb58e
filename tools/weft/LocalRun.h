//===- LocalRun.h - Ranks that weft starts on this machine ------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_LOCALRUN_H
#define WEFT_TOOLS_WEFT_LOCALRUN_H

#include "ToolCommands.h"

namespace weft {

/// Runs `program` (a path) with its arguments as `ranks` processes that talk
/// over TCP. With `binds` each is bound to an equal part of the processors that
/// this process may use; ranks with devices choose processors themselves. They
/// get the signals that stop a run, and all of them end with this
/// process. The ranks give the exit code; exit 7 names a rank that a
/// signal has ended, or that has ended otherwise than the ones that missed it.
Expected<ExitCode> runLocalRanks(int64_t ranks, const std::string &program,
                                 const Arguments &args, bool binds);

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

#endif // WEFT_TOOLS_WEFT_LOCALRUN_H
