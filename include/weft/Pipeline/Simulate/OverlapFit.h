//===- OverlapFit.h - The cost of overlapped collectives --------*- C++ -*-===//
//
// A collective that overlaps with computation takes longer than by itself. The
// time that ranks wait for it shows by how much. The cost table gets the number
// with which plans wait as long as their measured runs.
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

/// Compiles the model in `folder` up to plan-memory.
Expected<std::unique_ptr<Compiler>>
compileToPlan(const std::string &folder, const std::vector<std::string> &flags);

/// The plan of a program, whose commands are estimated with one cost table
/// after another. Their order does not change.
class TimedPlan {
public:
  static Expected<TimedPlan> compile(const std::string &folder,
                                     const std::vector<std::string> &flags);

  /// Time per step in which ranks wait for collectives, in microseconds, by the
  /// cost table in a file.
  Expected<double> estimateExposedUs(const std::string &path);

private:
  std::unique_ptr<Compiler> compiler;
};

/// A plan, and the measured time per step in which ranks waited.
struct ExposedPlan {
  TimedPlan plan;
  double us = 0;
};

/// The `beside_us` with which the waits of all plans together are as long as
/// the measured ones. 0 if the measured waits are shorter than the table gives
/// without it. An error if even an hour does not explain them. The table is
/// written into `folder`, from where the estimate pass reads it.
Expected<double> findBesideUs(CostTable table, std::vector<ExposedPlan> &plans,
                              const std::string &folder);

} // namespace weft

#endif // WEFT_PIPELINE_SIMULATE_OVERLAPFIT_H
