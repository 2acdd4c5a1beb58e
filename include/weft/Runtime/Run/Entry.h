//===- Entry.h - The main function of every executable ----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_ENTRY_H
#define WEFT_RUNTIME_RUN_ENTRY_H

#include "weft/Abi/Executable.h"
#include "weft/Runtime/Collectives/Processes.h"

namespace weft {

/// The first call of a process: keeps signals that stop a run, and turns a lack
/// of memory into an error.
void beginProcess();

/// Runs a compiled program with a command line; returns the exit status. With
/// `join` it may be one of several processes that are the ranks of a run.
int weftMain(const WeftExecutable &executable, int argc, char **argv,
             JoinProcesses join = nullptr);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_ENTRY_H
