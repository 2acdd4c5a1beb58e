//===- FuzzJson.cpp - Any bytes as JSON -----------------------------------===//
//
// Accepted text must come back equal through both writers.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Formats/Json.h"

using namespace weft;

static void checkReadsBack(const Json &json, const std::string &text) {
  auto again = parseJson(text, "again");
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(*again == json);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  JsonLimits limits;
  limits.maxValues = 10000;
  auto json = parseJson(text, "fuzz", limits);
  if (!json) {
    FUZZ_CHECK(json.error().code() == ExitCode::Input);
    FUZZ_CHECK(!json.error().message().empty());
    FUZZ_CHECK(json.error().str().size() < 1000);
    return 0;
  }
  checkReadsBack(*json, json->compact());
  checkReadsBack(*json, json->pretty());
  JsonCursor root(*json, "fuzz");
  if (json->isObject())
    for (size_t i = 0; i < json->asObject().size(); ++i) {
      JsonCursor member = root.member(i);
      (void)member.asInt(0, 10);
      (void)member.asIntArray();
      (void)member.asString();
      (void)member.error("message").str();
    }
  return 0;
}
