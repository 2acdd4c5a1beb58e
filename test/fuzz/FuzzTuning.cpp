//===- FuzzTuning.cpp - Files of measured algorithms ----------------------===//

#include "Check.h"

#include "cuda/GemmTuning.h"
#include "weft/Formats/Digest.h"

using namespace weft;
using namespace weft::cuda;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  const GemmMachine machine = {"GPU", 132, "13.1.0", false};
  auto tuning = GemmTuning::parse(text, "fuzz", machine);
  if (!tuning) {
    FUZZ_CHECK(tuning.error().code() == ExitCode::Input);
    return 0;
  }
  FUZZ_CHECK(tuning->digest() == digest128(text));
  FUZZ_CHECK(tuning->checkAllFound().ok() == (tuning->size() == 0));
  return 0;
}
