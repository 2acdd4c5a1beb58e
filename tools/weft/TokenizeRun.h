//===- TokenizeRun.h - Text to token numbers and back -----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_TOKENIZERUN_H
#define WEFT_TOOLS_WEFT_TOKENIZERUN_H

#include "Documents.h"
#include "HeldText.h"
#include "TokenFiles.h"

#include "weft/Base/Results.h"
#include "weft/Base/StandardInput.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Text to token numbers, or back, by the flags of weft tokenize.
class TokenizeRun {
public:
  TokenizeRun(const FlagValues &flags, std::string input, Tokenizer tokenizer)
      : flags(flags), input(std::move(input)),
        isFile(this->input != kStandardInput), tokenizer(std::move(tokenizer)) {
  }

  Status encode();
  Status decode();

private:
  Status encodeDocument(std::string_view text);
  Status encodeText(std::string_view text);
  Expected<DocumentReader> openDocuments() const;
  Status encodeDocuments();
  Status printIds(const int32_t *ids, size_t count);
  Status decodeTokens(TokenFile &file);
  Expected<std::vector<int32_t>> readIds(std::string_view line,
                                         int number) const;
  Status putDecoded(StreamDecoder &decoder, const int32_t *ids, int64_t count);
  /// Puts the text that the decoder holds back, and `end` behind it.
  Status putLast(StreamDecoder &decoder, const char *end);
  Status decodeIds(const std::vector<int32_t> &ids);
  Status decodeLines();
  Status put(std::string_view text);
  Status finish();
  void warnOfLosses() const;

  const FlagValues &flags;
  std::string input; // a path, or kStandardInput
  bool isFile;
  std::string piped; // standard input
  Tokenizer tokenizer;
  EncodeLosses losses;
  std::optional<TokenFileWriter> tokens;
  std::optional<OutputFile> textFile;
  bool isStream = true; // written text cannot be taken back
  HeldText held;        // its text, so that none comes before an error
  bool isLineBegun = false;
};

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOKENIZERUN_H
