//===- ProgramProcess.h - A program whose output is read --------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMPROCESS_H
#define WEFT_TOOLS_WEFT_PROGRAMPROCESS_H

#include "CachedProgram.h"
#include "ToolCommands.h"

#include <functional>
#include <string>
#include <sys/types.h>

namespace weft {

/// A program with its ranks in a process of its own.
struct ProgramProcess {
  pid_t id = -1;
  Descriptor output; // its standard output
};

/// Starts a program with run flags. It ends with this process.
Expected<ProgramProcess> startProgram(const Program &program,
                                      const ProgramRanks &ranks,
                                      const Arguments &runFlags);

/// Hands out each line that the program prints, without its line end.
Status forProgramLines(const ProgramProcess &process,
                       const std::function<void(const std::string &)> &use);

/// Closes its output and waits for its end.
Expected<ExitCode> waitForProgram(ProgramProcess &process);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_PROGRAMPROCESS_H
