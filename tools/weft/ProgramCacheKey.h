//===- ProgramCacheKey.h - Names of cached programs -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMCACHEKEY_H
#define WEFT_TOOLS_WEFT_PROGRAMCACHEKEY_H

#include "weft/Base/Results.h"

namespace weft {

class FlagValues;

/// The name of the program of a model: a digest of everything that decides its
/// bytes, 32 hexadecimal digits. Errors of the target and of files.
Expected<std::string> programCacheKey(const FlagValues &flags,
                                      const std::string &model);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_PROGRAMCACHEKEY_H
