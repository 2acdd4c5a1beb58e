//===- ResumedOptimizer.h - Optimizer state from a checkpoint ---*- C++ -*-===//
//
// The moments of a parameter are restored from the checkpoint. A program may
// train a parameter that was frozen in the run that saved the checkpoint. The
// checkpoint has no optimizer state for such a thawed parameter, so its state
// starts at zeros.
//
// A step counter continues the saved counter of the same parameters, whatever
// its name. A counter of thawed parameters starts at 0. It must count no other
// parameters, since Adam's bias correction depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_RESUMEDOPTIMIZER_H
#define WEFT_RUNTIME_CHECKPOINTS_RESUMEDOPTIMIZER_H

#include "weft/Abi/Executable.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Execute/ScalerState.h"

#include <set>

namespace weft {

struct ResumedOptimizer {
  std::vector<std::string> thawed; // parameters, in the order of the program
  std::set<std::string> fresh;     // states that start at zeros
  /// The saved counter that each counter of the program continues.
  std::map<std::string, std::string> counters;
  /// Counters of the checkpoint whose parameters are known.
  std::set<std::string> savedCounters;

  bool isFresh(const std::string &name) const { return fresh.count(name) > 0; }
  /// The name in the checkpoint of a state of the program.
  const std::string &savedName(const std::string &name) const;
  /// "the optimizer state of 'b' begins anew: frozen in the checkpoint", or ""
  /// if there is none.
  std::string describe() const;
};

/// Matches the optimizer states of a program with a checkpoint whose
/// `model.json` is `model`. A checkpoint error at `directory` names parameters
/// whose steps cannot be counted together.
Expected<ResumedOptimizer> resumeOptimizer(const Manifest &manifest,
                                           const Json &model,
                                           const std::string &directory,
                                           const WeftExecutable &executable,
                                           const Metadata &metadata);

/// The step counters of a program for `model.json`, if there are several: for
/// each counter the parameters that it counts.
Json describeCounters(const Metadata &metadata);

//===- Loss scale ---------------------------------------------------------===//

// A checkpoint holds the states of the loss scale, and the name of its policy
// in its model.json.

/// The checkpoint in `directory`, whose model.json is `model`, was saved under
/// the program's policy.
Status checkScalePolicy(const Json &model, const std::string &directory,
                        const LossScaler &program);

/// Brings a loaded loss scale in line with the program's numbers: a fixed scale
/// is the program's, a dynamic one is not below its minimum, and the hysteresis
/// left is one that the program counts down from. What became of the scale, if
/// that is not what was loaded.
Expected<std::optional<std::string>> adaptLossScale(const WeftContext &context,
                                                    const LossScaler &program);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_RESUMEDOPTIMIZER_H
