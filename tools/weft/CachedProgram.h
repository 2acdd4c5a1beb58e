//===- CachedProgram.h - Programs of a model, from the cache ----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_CACHEDPROGRAM_H
#define WEFT_TOOLS_WEFT_CACHEDPROGRAM_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Flags.h"

#include <string>

namespace weft {

/// A compiled program. The open file runs, even if its name meanwhile stands
/// for another file.
struct Program {
  std::string path;
  Descriptor file;
};

/// The ranks that a program was compiled for.
struct ProgramRanks {
  int64_t count = 1;
  bool isForCuda = false;
};

/// The flags of a program that samples: with --kv-cache=auto, unless they say
/// otherwise.
FlagValues flagsForSamples(const FlagValues &flags);

/// Compiles the model with the compile flags, or finds its program in the
/// cache. Outputs among the flags are checked first: none of them is an input.
/// Warnings about training appear only if the program `trains`.
Expected<Program> prepareProgram(const FlagValues &flags,
                                 const std::string &model, bool trains);

/// An error for a program that the system does not run.
Status checkCanRun(const std::string &path);

/// Runs the program with run flags, `--name=value` each. A program of one rank
/// replaces this process. Several ranks are started, unless a launcher has done
/// so.
Expected<ExitCode> runProgram(const Program &program, const ProgramRanks &ranks,
                              const std::vector<std::string> &runFlags);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_CACHEDPROGRAM_H
