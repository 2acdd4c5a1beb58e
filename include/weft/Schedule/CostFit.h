//===- CostFit.h - Rates from measured times --------------------*- C++ -*-===//
//
// The estimate of a command is overhead plus the longer of arithmetic and
// traffic, of attention plus products, softmax and traffic (Cost.h). The fit
// chooses the rates that minimise the difference between estimates and measured
// times of the commands of one kind. The rates hold for even work: the measured
// time of attention is divided by its imbalance, by which estimates multiply it
// again. A launch counts for all of its kinds, but a kernel with a formula does
// not count for its iteration space: kernels of primitive ops are the ones that
// have no other kind.
// Commands are weighted by their time, so that the sum of a step is right: many
// short commands whose data lie in a cache must not decide on the few long
// ones. The overhead is then fitted again, weighted by the square root of the
// time, since short commands determine it. Rates are at least a sixteenth of
// the best measured rate of a command, of collectives half of it. Commands of
// fewer than four sizes determine only one rate: their mean arithmetic or
// traffic rate, or the latency of collectives.
// A fit leaves out a rate that explains less than a hundredth of each measured
// time: the commands are limited by something else.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_SCHEDULE_COSTFIT_H
#define WEFT_SCHEDULE_COSTFIT_H

#include "weft/Analysis/Cost.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

/// The properties that determine the time of a command, and its measured time.
struct CostSample {
  std::string kind;    // "gemm"
  std::string element; // "f32"; "" of a collective
  double flops = 0;
  double bytes = 0; // of a collective: bytes that a rank sends
  int64_t stream = 0;
  bool isCollective = false;
  double us = 0;
  double scores = 0;
  std::string special = {}; // the most special kind of a launch: "rope"
  double imbalance = 1;     // getImbalance(); the measured time contains it
};

/// The samples of the commands of each program of a plan, in program order,
/// without times, for runs with that many threads per rank; 0 if unknown.
/// Commands that only wait have no bytes.
std::map<std::string, std::vector<CostSample>>
describeCosts(mlir::ModuleOp module, int64_t threads);

/// The rates of a kind on a type.
struct CostFit {
  std::string kind, element;
  CostTable::Part rates;
  size_t samples = 0;
  /// Root mean square of the logarithm of estimate to measured time.
  double error = 0;

  /// The time of a command of this kind whose threads have even work.
  double getTimeUs(const CommandWork &work) const;
  /// The typical difference of estimates from measured times, in percent.
  double getPercentOff() const;
  /// The table of the cost file for these rates: "gemm.bf16".
  std::string getPart() const;
};

/// Fits rates per kind and type, sorted by both. Skips samples without a time
/// and commands that only wait.
std::vector<CostFit> fitCosts(const std::vector<CostSample> &samples);

/// The parts whose estimates are typically more than 50 % off:
/// "attention.f32 (84 %), rope.f32 (61 %)". Leaves out "launch", whose commands
/// belong to more special parts too.
std::string listPoorFits(const std::vector<CostFit> &fits);

} // namespace weft

#endif // WEFT_SCHEDULE_COSTFIT_H
