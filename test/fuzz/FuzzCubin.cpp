//===- FuzzCubin.cpp - Any bytes as machine code of a device --------------===//

#include "Check.h"

#include "weft/Formats/Cubin.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  auto cubins = readCubins(bytes);
  if (!cubins) {
    FUZZ_CHECK(cubins.error().code() == ExitCode::Input);
    return 0;
  }
  uint64_t total = 0;
  for (const Cubin &cubin : *cubins) {
    total += cubin.bytes;
    for (const CubinKernel &kernel : cubin.kernels)
      FUZZ_CHECK(!kernel.name.empty() && kernel.codeBytes <= cubin.bytes);
  }
  FUZZ_CHECK(total <= size);
  return 0;
}
