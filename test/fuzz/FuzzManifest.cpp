//===- FuzzManifest.cpp - Any fields behind a right digest ----------------===//
//
// Almost no input would pass the digest: it is made right here. What is
// accepted must keep the rules and come back equal.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Formats/Manifest.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text = "{\n  \"xxh3\": \"" + std::string(32, '0') + "\"";
  text.append(reinterpret_cast<const char *>(data), size);
  text.replace(13, 32, digest128(text));
  auto manifest = Manifest::parse(text, "fuzz");
  if (!manifest) {
    FUZZ_CHECK(manifest.error().code() == ExitCode::Checkpoint);
    return 0;
  }
  FUZZ_CHECK(manifest->validate("fuzz").ok());
  auto again = Manifest::parse(manifest->str(), "again");
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(again->str() == manifest->str());
  return 0;
}
