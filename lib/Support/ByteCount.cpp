//===- ByteCount.cpp - Sizes in options of passes -------------------------===//

#include "weft/Support/ByteCount.h"

#include "weft/Base/Flags.h"

namespace weft {

std::optional<int64_t> readByteCount(llvm::StringRef text) {
  int64_t bytes = 0;
  if (!parseByteCount(text.str(), bytes) || bytes < 1)
    return std::nullopt;
  return bytes;
}

} // namespace weft
