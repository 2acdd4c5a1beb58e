//===- RooflineRates.cpp - Rates of known devices -------------------------===//

#include "Roofline.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace weft;

/// Measured on one H200 with GPT-2 124M in f16 (docs/how-to/performance.md):
/// products, attention, and copies in its memory. 132 processors issue 4
/// instructions of warps a cycle, at 1.755 GHz. One of them has at most 64
/// operations, a multiplication and an addition for each thread.
static constexpr double kH200Issue = 927;

static CostTable makeH200() {
  CostTable table;
  table.parts[""].gflops = 64 * kH200Issue;
  table.parts[""].gigabytesPerSecond = 4300;
  for (const char *type : {"f16", "bf16"}) {
    table.parts[(Twine("gemm.") + type).str()].gflops = 790e3;
    table.parts[(Twine("attention.") + type).str()].gflops = 290e3;
    table.parts[(Twine("attention_grad.") + type).str()].gflops = 210e3;
  }
  return table;
}

namespace {
struct KnownDevice {
  const char *name;
  double issueGiga;
  CostTable (*makeTable)();
};
} // namespace

static constexpr KnownDevice kDevices[] = {{"h200", kH200Issue, makeH200}};

static Error unknownDevice(const std::string &device) {
  std::string names;
  for (const KnownDevice &known : kDevices)
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  return usageError("--device expects ", names,
                    " or a cost table (FILE.toml), but got ", inQuotes(device))
      .hint("weft bench -o FILE.toml measures a cost table of this machine");
}

static Expected<CostTable>
readTable(MLIRContext *context, const std::string &path, StringRef target) {
  std::string message, hint;
  int line = 0;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream text(message);
    text << diagnostic;
    if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      line = int(place.getLine());
    for (const Diagnostic &note : diagnostic.getNotes())
      hint = note.str();
    return success();
  });
  FailureOr<CostTable> table = readCostTable(context, path, target);
  if (failed(table))
    return inputError(message).at(path, line).hint(hint);
  return *table;
}

Expected<RooflineRates> RooflineRates::find(const std::string &device,
                                            StringRef target) {
  RooflineRates rates;
  rates.name = device;
  // Names of kinds are checked against the formulas of ops.
  DialectRegistry registry;
  registerAllDialects(registry);
  rates.context = std::make_shared<MLIRContext>(registry);
  rates.context->loadDialect<plan::PlanDialect, WeftDialect>();
  for (const KnownDevice &known : kDevices)
    if (device == known.name) {
      rates.table = known.makeTable();
      rates.issueGiga = known.issueGiga;
      return rates;
    }
  if (!StringRef(device).ends_with(".toml"))
    return unknownDevice(device);
  Expected<CostTable> table = readTable(rates.context.get(), device, target);
  if (!table)
    return table.takeError();
  rates.table = std::move(*table);
  return rates;
}

/// "gemm 32x8 by 16 f16->f32" is of f16.
static Type findElement(StringRef name, MLIRContext *context) {
  StringRef word = name.rsplit(' ').second.split("->").first;
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) {});
  return word.empty() ? Type() : parseType(word, context);
}

Rates RooflineRates::getRates(const CommandCost &command) const {
  const SmallVector<StringRef> kinds(command.kinds.begin(),
                                     command.kinds.end());
  return table.getRates(kinds, findElement(command.name, context.get()));
}
