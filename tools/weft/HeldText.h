//===- HeldText.h - Text that waits until it is whole -----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_HELDTEXT_H
#define WEFT_TOOLS_WEFT_HELDTEXT_H

#include "weft/Base/Temporaries.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace weft {

/// Text for a stream, which cannot be taken back once it is written. So it
/// waits until nothing can fail any more: in memory, and from 4 MiB on in a
/// temporary file.
class HeldText {
public:
  Status add(std::string_view text);
  /// Hands all of it to `write`, some at a time.
  Status release(const std::function<Status(std::string_view)> &write);

private:
  Status spill();

  std::string waiting; // behind the bytes of the file
  Temporary spilled;
  int64_t spilledBytes = 0;
};

} // namespace weft

#endif // WEFT_TOOLS_WEFT_HELDTEXT_H
