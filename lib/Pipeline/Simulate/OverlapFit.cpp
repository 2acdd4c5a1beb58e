//===- OverlapFit.cpp - The cost of overlapped collectives ----------------===//

#include "weft/Pipeline/Simulate/OverlapFit.h"

#include "weft/Analysis/Timeline.h"
#include "weft/Base/OutputFile.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Schedule/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace mlir;
using namespace weft;

Expected<std::unique_ptr<Compiler>>
weft::compileToPlan(const std::string &folder,
                    const std::vector<std::string> &flags) {
  Expected<FlagValues> values = compilerFlagTable().parse(flags);
  if (!values)
    return values.takeError();
  auto compiler = std::make_unique<Compiler>();
  if (Status status = compiler->load(folder, *values); !status)
    return status.takeError();
  if (Status status = runWithinMemory(
          *compiler, compiler->phases().find(Phase::PlanMemory));
      !status)
    return status.takeError();
  return compiler;
}

Expected<TimedPlan> TimedPlan::compile(const std::string &folder,
                                       const std::vector<std::string> &flags) {
  auto compiler = compileToPlan(folder, flags);
  if (!compiler)
    return compiler.takeError();
  TimedPlan plan;
  plan.compiler = std::move(*compiler);
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
  FailureOr<StepEstimate> step = estimateStep(compiler->module());
  if (failed(step))
    return compiler->takeError("the timeline");
  return step->exposedUs;
}

/// The exposed time of all plans together, with `besideUs` microseconds added
/// to each overlapped collective.
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

/// Exposed time grows with the time of collectives, so it finds two bounds and
/// bisects between them.
Expected<double> weft::findBesideUs(CostTable table,
                                    std::vector<ExposedPlan> &plans,
                                    const std::string &folder) {
  const std::string path = folder + "/costs.toml";
  constexpr double kExactUs = 0.1, kMostUs = 3600e6;
  double measured = 0;
  for (const ExposedPlan &each : plans)
    measured += each.us;
  double least = 0, most = 1;
  bool isBelow = measured > 0; // planned, with the most
  while (isBelow) {
    auto planned = sumExposedUs(table, most, plans, path);
    if (!planned)
      return planned;
    isBelow = *planned < measured;
    if (isBelow && most == kMostUs)
      return Error(ExitCode::Communication,
                   "ranks waited " + std::to_string(std::llround(measured)) +
                       " us for collectives of " +
                       std::to_string(plans.size()) +
                       " programs, more than any cost of them explains")
          .hint("measure again where nothing else runs");
    if (isBelow)
      least = std::exchange(most, std::min(2 * most, kMostUs));
  }
  while (most - least > kExactUs) {
    const double middle = (least + most) / 2;
    auto planned = sumExposedUs(table, middle, plans, path);
    if (!planned)
      return planned;
    (*planned < measured ? least : most) = middle;
  }
  return least;
}
