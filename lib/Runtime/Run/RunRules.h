//===- RunRules.h - Rules between the flags of a run ------------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_RUN_RUNRULES_H
#define WEFT_LIB_RUNTIME_RUN_RUNRULES_H

#include "weft/Runtime/Run/RunFlags.h"

namespace weft {

/// The numbers of a list such as 5,12,7; none if it is malformed.
std::vector<int32_t> parseTokenIds(const std::string &text);

/// Rules between flags, independent of the program. `flags` are the given ones;
/// `out` also has the recorded ones, if `keptKnown`.
Status checkTogether(const FlagValues &flags, const RunOptions &out,
                     bool keptKnown);
/// Rules between flags and the program.
Status checkProgram(const FlagValues &flags, const Metadata &metadata,
                    const RunOptions &out);
/// Checks the flags that training requires.
Status checkTraining(const Metadata &metadata, const RunOptions &out);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_RUN_RUNRULES_H
