//===- ByteCount.h - Sizes in options of passes -----------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_BYTECOUNT_H
#define WEFT_SUPPORT_BYTECOUNT_H

#include "mlir/Support/LLVM.h"

#include <optional>

namespace weft {

/// A number of bytes of at least 1, spelled as flags spell it: "64", "1.5G",
/// "2MiB". Nothing for another text.
std::optional<int64_t> readByteCount(llvm::StringRef text);

} // namespace weft

#endif // WEFT_SUPPORT_BYTECOUNT_H
