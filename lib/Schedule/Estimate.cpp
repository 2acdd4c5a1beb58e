//===- Estimate.cpp - Estimate the time of every command ------------------===//

#include "weft/Schedule/Passes.h"

#include "weft/Analysis/Cost.h"
#include "weft/Plan/Plan.h"
#include "weft/Support/TomlFile.h"

#include "llvm/ADT/StringSwitch.h"

namespace weft {
#define GEN_PASS_DEF_ESTIMATEPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Reads the speeds, or emits an error at the line of the file.
static FailureOr<CostTable> readCostTable(MLIRContext *context,
                                          StringRef path) {
  CostTable costs;
  auto locate = [&](const toml::source_region &source) -> Location {
    return locateToml(context, path, source);
  };
  FailureOr<TomlFile> file = readTomlFile(context, path, "cost table");
  if (failed(file))
    return failure();
  for (auto &&[key, value] : file->table) {
    StringRef name(key.str());
    double *target =
        llvm::StringSwitch<double *>(name)
            .Case("gflops", &costs.gflops)
            .Case("gigabytes_per_second", &costs.gigabytesPerSecond)
            .Case("overhead_us", &costs.overheadUs)
            .Default(nullptr);
    if (!target)
      return emitError(locate(value.source()),
                       "expects gflops, gigabytes_per_second or overhead_us, "
                       "but got `")
             << name << "`";
    std::optional<double> number = value.value<double>();
    if (value.is_boolean() || !number || !(*number > 0))
      return emitError(locate(value.source()), "expects `")
             << name << "` to be a number above 0, but got "
             << (number ? std::to_string(*number) : "another type");
    *target = *number;
  }
  return costs;
}

/// For reports that compare measured times with the machine's speed.
static DictionaryAttr describe(const CostTable &costs, Builder &builder) {
  auto speed = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  };
  return builder.getDictionaryAttr(
      {speed("gflops", costs.gflops),
       speed("gigabytes_per_second", costs.gigabytesPerSecond)});
}

namespace {
struct EstimatePass : weft::impl::EstimatePassBase<EstimatePass> {
  using EstimatePassBase::EstimatePassBase;

  void runOnOperation() override {
    FailureOr<CostTable> costs = CostTable();
    if (!costTable.empty())
      costs = readCostTable(&getContext(), costTable);
    if (failed(costs))
      return signalPassFailure();
    Builder builder(&getContext());
    if (!costTable.empty())
      getOperation()->setAttr(kSpeedsAttr, describe(*costs, builder));
    getOperation()->walk([&](plan::CommandOpInterface command) {
      double time = estimateMicroseconds(command, *costs);
      command.setEstUsAttr(builder.getF64FloatAttr(time));
    });
  }
};
} // namespace
