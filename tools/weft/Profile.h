//===- Profile.h - Measured times against what was compiled -----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PROFILE_H
#define WEFT_TOOLS_WEFT_PROFILE_H

#include "weft/Formats/Json.h"

#include <string>

namespace weft {

/// Adds up the trace that a program's --trace wrote, per kernel and per scope.
/// `digest` is the digest of the program's metadata `meta`; a trace with
/// another digest is an error. The result is the output of `weft inspect
/// --profile --json`.
Expected<Json> makeProfile(const Json &meta, const std::string &digest,
                           const std::string &tracePath);

/// The profile as tables on standard output.
void printProfile(const Json &profile);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_PROFILE_H
