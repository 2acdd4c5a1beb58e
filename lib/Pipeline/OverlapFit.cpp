//===- OverlapFit.cpp - What hidden collectives cost ----------------------===//

#include "weft/Pipeline/OverlapFit.h"

#include "weft/Analysis/StepEstimate.h"
#include "weft/Formats/OutputFile.h"
#include "weft/Pipeline/CompileFlags.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Schedule/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace weft {

Expected<TimedPlan> TimedPlan::compile(const std::string &folder,
                                       const std::vector<std::string> &flags) {
  Expected<FlagValues> values = compilerFlagTable().parse(flags);
  if (!values)
    return values.takeError();
  TimedPlan plan;
  plan.compiler = std::make_unique<Compiler>();
  Compiler &compiler = *plan.compiler;
  if (Status status = compiler.load(folder, *values); !status)
    return status.takeError();
  if (Status status = compiler.run(compiler.phases().find("plan-memory"));
      !status)
    return status.takeError();
  return plan;
}

Expected<double> TimedPlan::estimateExposedUs(const std::string &path) {
  PassManager passes(compiler->module().getContext(),
                     ModuleOp::getOperationName());
  EstimatePassOptions options;
  options.costTable = path;
  passes.addPass(createEstimatePass(options));
  if (failed(passes.run(compiler->module())))
    return compiler->takeError("the cost table");
  return estimateStep(compiler->module()).exposedUs;
}

/// Of all plans together, with collectives that are longer by `besideUs`.
static Expected<double> sumExposedUs(CostTable &table, double besideUs,
                                     std::vector<ExposedPlan> &plans,
                                     const std::string &path) {
  table.overlap.besideUs = besideUs;
  if (Status status = writeFile(path, writeCostTable(table, {})); !status)
    return status.takeError();
  double sum = 0;
  for (ExposedPlan &each : plans) {
    auto us = each.plan.estimateExposedUs(path);
    if (!us)
      return us;
    sum += *us;
  }
  return sum;
}

/// What is exposed grows with what collectives take: by halves. An upper bound
/// is the time that all of them were waited for.
Expected<double> findBesideUs(CostTable table, std::vector<ExposedPlan> &plans,
                              const std::string &folder) {
  const std::string path = folder + "/costs.toml";
  double measured = 0;
  for (const ExposedPlan &each : plans)
    measured += each.us;
  double least = 0, most = measured;
  constexpr double kExactUs = 0.1;
  while (most - least > kExactUs) {
    const double middle = (least + most) / 2;
    auto planned = sumExposedUs(table, middle, plans, path);
    if (!planned)
      return planned;
    (*planned < measured ? least : most) = middle;
  }
  return least;
}

} // namespace weft
