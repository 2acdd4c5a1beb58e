//===- Alike.h - What all processes of a run must have alike ----*- C++ -*-===//
//
// Ranks that are processes read their command line, program and files each for
// itself, maybe on another machine. What would make them part is compared
// before the first step.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_ALIKE_H
#define WEFT_RUNTIME_RUN_ALIKE_H

#include "weft/Formats/Error.h"
#include "weft/Runtime/Execute/Abi.h"

#include <string>
#include <vector>

namespace weft {

/// One thing that processes have alike: what it is ("--lr"), its text here, and
/// the exit code of processes that differ in it.
struct Alike {
  std::string name, value;
  ExitCode code = ExitCode::Usage;
};

/// A text that holds them, for the other processes.
std::string alikeText(const std::vector<Alike> &things);

/// Compares the texts of all processes, by rank: an error that names the first
/// thing that differs, with both values ("none" where one has not got it).
Status checkAlike(const std::vector<std::string> &texts);

/// A digest of the tables of a program.
std::string programDigest(const WeftExecutable &executable);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_ALIKE_H
