//===- TokenFiles.h - Files of tokens that tools write ----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_TOKENFILES_H
#define WEFT_TOOLS_WEFT_TOKENFILES_H

#include "weft/Base/OutputFile.h"
#include "weft/Formats/TokenFile.h"
#include "weft/Tokenizer/Tokenizer.h"

namespace weft {

/// Writes a file with a header of llm.c, for --data: 16-bit tokens for a
/// vocabulary of up to 65536, otherwise 32-bit tokens. The header has the
/// number of tokens, so they wait in memory.
class TokenFileWriter {
public:
  TokenFileWriter(std::string path, int64_t vocabulary)
      : path(std::move(path)), isWide(vocabulary > 65536) {}

  Status add(const int32_t *ids, size_t count);
  Status commit();

private:
  std::string path;
  bool isWide;
  std::vector<uint8_t> bytes;
};

/// Whether a file has such a header.
bool isTokenFile(const std::string &path);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOKENFILES_H
