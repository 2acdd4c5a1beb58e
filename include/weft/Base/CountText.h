//===- CountText.h - A number and its noun ----------------------*- C++ -*-===//

#ifndef WEFT_BASE_COUNTTEXT_H
#define WEFT_BASE_COUNTTEXT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// "1 rank", "4 ranks"; the plural of `noun` ends in s.
std::string countText(int64_t count, std::string_view noun);

/// "1,234,567".
std::string groupedText(int64_t number);

} // namespace weft

#endif // WEFT_BASE_COUNTTEXT_H
