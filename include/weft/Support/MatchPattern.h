//===- MatchPattern.h - Regular expressions of bounded cost -----*- C++ -*-===//

#ifndef WEFT_SUPPORT_MATCHPATTERN_H
#define WEFT_SUPPORT_MATCHPATTERN_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace weft {

/// What is wrong with a POSIX extended regular expression, or nothing. Besides
/// its syntax, its size with repetitions written out is bounded: the engine
/// copies what is repeated, so `((a{255}){255}){255}` would take minutes.
std::optional<std::string> findPatternProblem(llvm::StringRef text);

} // namespace weft

#endif // WEFT_SUPPORT_MATCHPATTERN_H
