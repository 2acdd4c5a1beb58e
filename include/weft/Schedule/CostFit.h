//===- CostFit.h - Rates from measured times --------------------*- C++ -*-===//
//
// The estimate of a command is overhead plus the longer of arithmetic and
// traffic (Cost.h). Given how long commands of one kind took, the three rates
// are those for which estimates and measured times differ least: weighted by
// the square root of the time, so that neither the many short commands nor the
// few long ones decide alone. Rates are at least half of what a command has
// reached. Of commands of fewer than four sizes only one rate is known: the mean of what
// they compute or move, or of a collective, its latency.
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

/// What the time of a command depends on, and the time.
struct CostSample {
  std::string kind;    // "gemm"
  std::string element; // "f32"; "" of a collective
  double flops = 0;
  double bytes = 0; // of a collective those that a rank sends
  int64_t stream = 0;
  bool isCollective = false;
  double us = 0;
};

/// What the commands of each program of a plan cost, in their order, without
/// times. Those that only wait have no bytes.
std::map<std::string, std::vector<CostSample>>
describeCosts(mlir::ModuleOp module);

/// The rates of a kind on a type.
struct CostFit {
  std::string kind, element;
  CostTable::Part rates;
  size_t samples = 0;
  /// Typical: the square root of the mean squared logarithm.
  double error = 0;

  /// The time of a command of this kind.
  double getTimeUs(double flops, double bytes) const;
  /// The part of a cost table that it belongs to: "gemm.bf16".
  std::string getPart() const;
};

/// In the order of kinds and types. Samples without a time, or of commands that
/// only wait, are left out.
std::vector<CostFit> fitCosts(const std::vector<CostSample> &samples);

} // namespace weft

#endif // WEFT_SCHEDULE_COSTFIT_H
