//===- MemoryLines.h - Lines about a program within a limit -----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MEMORYLINES_H
#define WEFT_TOOLS_WEFT_MEMORYLINES_H

#include "weft/Pipeline/Driver/Compiler.h"

#include <string>

namespace weft {

/// The terms of the memory that a program needs; "" if it is the arena alone.
std::string listTerms(const MemoryReport &report);

/// The memory of a program that fits its limit, and the flags that were chosen
/// in addition to the given ones; "" without a limit.
std::string fitLines(const Compiler &compiler, const FlagValues &given);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_MEMORYLINES_H
