//===- FuzzTokenFile.cpp - Any bytes as a token file ----------------------===//
//
// The first byte of the input chooses the format and the file's name.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Formats/TokenFile.h"

#include <vector>

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  auto format = static_cast<TokenFormat>(data[0] & 3);
  const char *name = data[0] & 4 ? "fuzz.bin" : "fuzz.txt";
  auto file =
      TokenFile::open(std::make_unique<MemoryBytes>(
                          data + 1, static_cast<int64_t>(size - 1), name),
                      format);
  if (!file) {
    FUZZ_CHECK(file.error().code() == ExitCode::Input);
    return 0;
  }
  FUZZ_CHECK(file->size() > 0);
  std::vector<int32_t> tokens(static_cast<size_t>(file->size()));
  bool read = file->read(0, file->size(), tokens.data()).ok();
  // Whatever passes the check of a vocabulary is readable and below it.
  if (file->check(300).ok()) {
    FUZZ_CHECK(read);
    for (int32_t token : tokens)
      FUZZ_CHECK(token >= 0 && token < 300);
  }
  FUZZ_CHECK(!file->read(file->size(), 1, tokens.data()).ok());
  file->willNeed({{0, file->size()}});
  return 0;
}
