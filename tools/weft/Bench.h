//===- Bench.h - Measurements of weft bench ---------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_BENCH_H
#define WEFT_TOOLS_WEFT_BENCH_H

#include "BenchRun.h"

#include "weft/Pipeline/Simulate/OverlapFit.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Runs the models, again and again, so that what else the machine does befalls
/// all of them alike.
class Bench {
public:
  Bench(BenchOptions options, std::string folder)
      : options(options), folder(std::move(folder)) {}

  /// Compiles all models with a precision.
  Status prepare(const std::string &precision);
  /// Runs each program once.
  Status measure();

  /// The median of all rounds, of each command; on a shared machine the
  /// shortest.
  std::vector<CostSample> getSamples() const;
  /// Adds speeds and the costs of overlapping collectives to the rates.
  Expected<CostTable> makeTable(const std::vector<CostFit> &rates) const;

private:
  /// One rank needs one program. Several ranks need a second program, whose
  /// collectives overlap with computation.
  struct Pair {
    BenchProgram inLine;
    std::optional<BenchProgram> apart;
    std::vector<std::vector<CostSample>> rounds = {}; // of inLine
    std::vector<double> exposed = {}; // microseconds, one per round of apart
  };

  Expected<BenchProgram> compile(const BenchModel &model,
                                 std::vector<std::string> flags);
  Status measure(Pair &pair);
  double findSlowdown(const std::vector<CostFit> &rates) const;
  Expected<std::vector<ExposedPlan>> findExposed() const;

  BenchOptions options;
  std::string folder;
  std::vector<Pair> pairs;
  /// One round of a pair: the time by which overlapping collectives lengthen
  /// computation, and the times of the collectives alone.
  struct Loss {
    double us;
    std::vector<CostSample> collectives;
  };
  std::vector<Loss> losses;
  std::vector<double> handOvers;
  int programs = 0;
};

} // namespace weft

#endif // WEFT_TOOLS_WEFT_BENCH_H
