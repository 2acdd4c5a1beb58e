//===- TokenFiles.h - Files of tokens that tools write ----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_TOKENFILES_H
#define WEFT_TOOLS_WEFT_TOKENFILES_H

#include "weft/Base/OutputFile.h"
#include "weft/Base/Temporaries.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/TokenFile.h"
#include "weft/Tokenizer/Tokenizer.h"

namespace weft {

/// Writes a file with a header of llm.c, for --data: 16-bit tokens for a
/// vocabulary of up to 65536, otherwise 32-bit tokens. The header has the
/// number of tokens and their digest. So the tokens go to a temporary file
/// first: memory is bounded.
class TokenFileWriter {
public:
  TokenFileWriter(std::string path, int64_t vocabulary)
      : path(std::move(path)), width(vocabulary > 65536 ? 4 : 2) {}

  Status add(const int32_t *ids, size_t count);
  Status commit();
  int64_t size() const { return count; }

private:
  Status spill();
  Status copySpilled(OutputFile &file) const;

  std::string path;
  size_t width;
  int64_t count = 0;
  std::vector<uint8_t> bytes; // not spilled yet
  Temporary spilled;
  int64_t spilledBytes = 0;
  Digest digest;
};

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOKENFILES_H
