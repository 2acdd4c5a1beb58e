//===- StandardInput.h - Text from standard input ---------------*- C++ -*-===//

#ifndef WEFT_BASE_STANDARDINPUT_H
#define WEFT_BASE_STANDARDINPUT_H

#include "weft/Base/Error.h"

#include <cstdint>
#include <string>

namespace weft {

/// The name of standard input in messages.
inline constexpr char kStandardInput[] = "standard input";

/// Whether standard input is a pipe or a file, not a terminal or /dev/null.
bool isInputGiven();

/// Standard input up to its end, of at most `mostBytes`.
Expected<std::string> readStandardInput(int64_t mostBytes);

} // namespace weft

#endif // WEFT_BASE_STANDARDINPUT_H
