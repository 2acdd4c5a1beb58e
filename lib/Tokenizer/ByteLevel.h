//===- ByteLevel.h - Bytes spelt as printable characters --------*- C++ -*-===//
//
// Private to lib/Tokenizer. GPT-2 spells each byte as one character below
// U+0144: printable ones of Latin-1 as themselves, the others from U+0100 on.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_BYTELEVEL_H
#define WEFT_LIB_TOKENIZER_BYTELEVEL_H

#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// The characters for all bytes of `text`.
std::string spellBytes(std::string_view text);
/// The bytes that a well-formed text spells, if it has no other characters.
std::optional<std::string> bytesSpelt(std::string_view text);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_BYTELEVEL_H
