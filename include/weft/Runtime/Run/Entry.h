//===- Entry.h - The main function of every executable ----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_ENTRY_H
#define WEFT_RUNTIME_RUN_ENTRY_H

#include "weft/Runtime/Execute/Abi.h"

namespace weft {

/// Runs a compiled program with a command line; returns the exit status.
int weftMain(const WeftExecutable &executable, int argc, char **argv);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_ENTRY_H
