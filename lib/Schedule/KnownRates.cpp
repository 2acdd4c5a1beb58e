//===- KnownRates.cpp - Rates for commands without a table ----------------===//

#include "weft/Schedule/CostTableFile.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// Measured on one H100 (docs/how-to/performance.md), but for the arithmetic of
/// generated kernels: half of the f32 peak.
static CostTable makeH100Rates() {
  CostTable table;
  table.parts[""] = {30000, 2500, 3};
  for (const char *type : {"f16", "bf16"}) {
    auto add = [&](StringRef kind, double gflops) {
      table.parts[(kind + "." + type).str()] = {gflops, {}, {}};
    };
    add("gemm", 650000);
    add("attention", 177000);
    add("attention_grad", 101000);
  }
  return table;
}

const KnownRates *weft::findKnownRates(StringRef name) {
  static constexpr KnownRates known[] = {
      {"cpu", "two x86 cores", "cpu", [] { return CostTable(); }},
      {"h100", "one H100", "cuda", makeH100Rates},
  };
  const KnownRates *found = llvm::find_if(
      known, [&](const KnownRates &rates) { return rates.name == name; });
  return found == std::end(known) ? nullptr : found;
}
