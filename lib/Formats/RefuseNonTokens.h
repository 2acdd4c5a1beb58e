//===- RefuseNonTokens.h - Files without tokens -----------------*- C++ -*-===//

#ifndef WEFT_LIB_FORMATS_REFUSENONTOKENS_H
#define WEFT_LIB_FORMATS_REFUSENONTOKENS_H

#include "weft/Base/Error.h"

#include <cstdint>
#include <string_view>

namespace weft {

/// Whether a file that begins with `head` may be read as text.
Status checkText(std::string_view head, int64_t wholeSize,
                 const std::string &path);
/// Whether it may be read as tokens of `width` bytes without a header.
Status checkTokens(std::string_view head, int64_t wholeSize, int width,
                   const std::string &path);

} // namespace weft

#endif // WEFT_LIB_FORMATS_REFUSENONTOKENS_H
