//===- Entry.h - The main function of every executable ----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_ENTRY_H
#define WEFT_RUNTIME_RUN_ENTRY_H

#include "weft/Runtime/Execute/Abi.h"

namespace weft {

/// Runs a compiled program with a command line; returns the exit status.
int weftMain(const WeftExecutable &executable, int argc, char **argv);

/// From now on a library that ends the process (libgomp does, with status 1)
/// leads to an error of weft's own and status 9. Part of weftMain.
void watchExits();

} // namespace weft

#endif // WEFT_RUNTIME_RUN_ENTRY_H
