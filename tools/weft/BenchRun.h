//===- BenchRun.h - Measure the commands of a model -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_BENCHRUN_H
#define WEFT_TOOLS_WEFT_BENCHRUN_H

#include "weft/Base/Error.h"
#include "weft/Pipeline/Simulate/MeasuredTrace.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft {

struct BenchOptions {
  int64_t ranks = 1;
  bool areThreads = false; // ranks of one process, not of mpirun
  int64_t threads = 0;     // of a rank; 0: the run's default
  int64_t steps = 12;      // of a run
  std::string target = "cpu";
  bool isQuick = false;  // the first models alone
  bool isShared = false; // other programs run too: count processor time

  /// The threads of a rank in a measured run; 0 if ranks choose them
  /// themselves.
  int64_t findThreads() const;
};

/// A synthetic model. The sizes of products range from fitting into the L1
/// cache to fitting into no cache, heads from 32 to 128 wide.
struct BenchModel {
  std::string config; // text of its config.json
  int64_t batch, seq;
};

/// All of them, or the first two, which have commands of all kinds.
std::vector<BenchModel> benchModels(bool areFew);

/// The middle one, the later of two; precondition: not empty.
double medianOf(std::vector<double> values);

/// A compiled model that can run any number of times, with `threads` per rank
/// (0 if unknown). Its files are in a folder of its own.
class BenchProgram {
public:
  static Expected<BenchProgram> compile(const BenchModel &model,
                                        const std::vector<std::string> &flags,
                                        const std::string &folder,
                                        int64_t threads);

  Expected<MeasuredTimes> run(const BenchOptions &options) const;

  /// The folder of the model and its compile flags.
  const std::string &getFolder() const { return folder; }
  const std::vector<std::string> &getFlags() const { return flags; }

private:
  std::string folder;
  std::vector<std::string> flags;
  std::map<std::string, std::vector<CostSample>> costs;
};

} // namespace weft

#endif // WEFT_TOOLS_WEFT_BENCHRUN_H
