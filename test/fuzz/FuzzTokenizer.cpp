//===- FuzzTokenizer.cpp - Any bytes as a tokenizer and its text ----------===//
//
// The input is a tokenizer.json, a null byte and a text. A tokenizer that is
// accepted encodes the text, and decodes the ids again.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Tokenizer/Tokenizer.h"

using namespace weft;

static void checkText(const Tokenizer &tokenizer, std::string_view text,
                      const EncodeOptions &options) {
  Expected<std::vector<int32_t>> ids = tokenizer.encode(text, options);
  if (!ids) {
    FUZZ_CHECK(!ids.error().message().empty());
    return;
  }
  StreamDecoder stream(tokenizer, /*skipsSpecialTokens=*/false);
  for (int32_t id : *ids) {
    FUZZ_CHECK(id >= 0 && id < tokenizer.vocabularySize());
    if (ids->size() < 200)
      (void)stream.add(id);
  }
  (void)stream.finish();
  (void)tokenizer.decode(*ids, /*skipsSpecialTokens=*/false);
  (void)tokenizer.decode(*ids);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view all(reinterpret_cast<const char *>(data), size);
  const size_t end = std::min(all.find('\0'), size);
  Expected<Tokenizer> tokenizer =
      Tokenizer::parseJson(all.substr(0, end), "fuzz");
  if (!tokenizer) {
    FUZZ_CHECK(tokenizer.error().code() == ExitCode::Input);
    FUZZ_CHECK(!tokenizer.error().message().empty());
    FUZZ_CHECK(tokenizer.error().str().size() < 2000);
    return 0;
  }
  const std::string_view text =
      end < size ? all.substr(end + 1) : std::string_view("a b\xFF");
  checkText(*tokenizer, text, {});
  checkText(*tokenizer, text, {false, false});
  return 0;
}
