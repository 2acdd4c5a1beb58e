//===- OverlapFit.h - What hidden collectives cost --------------*- C++ -*-===//
//
// A collective that runs beside what computes takes longer than by itself, and
// by how much shows in the time that ranks wait for it. The number of the cost
// table is the one with which plans wait as long as runs of them did.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_SIMULATE_OVERLAPFIT_H
#define WEFT_PIPELINE_SIMULATE_OVERLAPFIT_H

#include "weft/Analysis/Cost.h"
#include "weft/Pipeline/Driver/Compiler.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

/// A model in `folder` with its plan: the phases up to plan-memory.
Expected<std::unique_ptr<Compiler>>
compileToPlan(const std::string &folder, const std::vector<std::string> &flags);

/// The plan of a program, whose commands get the times of one table after the
/// other. Their order stays.
class TimedPlan {
public:
  static Expected<TimedPlan> compile(const std::string &folder,
                                     const std::vector<std::string> &flags);

  /// For which ranks wait for collectives in a step, by the table in a file.
  Expected<double> estimateExposedUs(const std::string &path);

private:
  std::unique_ptr<Compiler> compiler;
};

/// A plan, and for how long ranks waited in a run of it.
struct ExposedPlan {
  TimedPlan plan;
  double us = 0;
};

/// The `beside_us` with which ranks wait in all plans together for as long as
/// they did. 0 if they waited less than the table says without; an error if not
/// even an hour makes them wait as long. The table is written into `folder` to
/// be read.
Expected<double> findBesideUs(CostTable table, std::vector<ExposedPlan> &plans,
                              const std::string &folder);

} // namespace weft

#endif // WEFT_PIPELINE_SIMULATE_OVERLAPFIT_H
