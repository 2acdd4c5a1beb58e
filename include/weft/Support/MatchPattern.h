//===- MatchPattern.h - Regular expressions of bounded cost -----*- C++ -*-===//

#ifndef WEFT_SUPPORT_MATCHPATTERN_H
#define WEFT_SUPPORT_MATCHPATTERN_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace weft {

/// The problem of a POSIX extended regular expression, or nothing. Besides the
/// syntax, it limits the size with all repetitions written out: the engine
/// copies repeated parts, so `((a{255}){255}){255}` would take minutes.
std::optional<std::string> findPatternProblem(llvm::StringRef text);

} // namespace weft

#endif // WEFT_SUPPORT_MATCHPATTERN_H
