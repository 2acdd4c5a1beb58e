//===- SharedSettings.h - Settings equal on all processes -------*- C++ -*-===//
//
// Each process reads its own command line, program and files, maybe on another
// machine. Settings that would lead processes apart are compared before the
// first step.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_SHAREDSETTINGS_H
#define WEFT_RUNTIME_RUN_SHAREDSETTINGS_H

#include "weft/Abi/Executable.h"
#include "weft/Base/Error.h"

#include <string>
#include <vector>

namespace weft {

/// A setting that all processes must share: its name ("--lr"), its value in
/// this process, and the exit code of processes that differ in it.
struct SharedSetting {
  std::string name, value;
  ExitCode code = ExitCode::Usage;
};

/// A text of the settings, for the other processes.
std::string formatSharedSettings(const std::vector<SharedSetting> &settings);

/// Compares the texts of all processes, by rank: an error that names the first
/// setting that differs, with both values ("none" where a process lacks it).
Status compareSharedSettings(const std::vector<std::string> &texts);

/// A digest of the tables of a program.
std::string programDigest(const WeftExecutable &executable);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_SHAREDSETTINGS_H
