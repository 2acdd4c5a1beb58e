//===- ResumedOptimizer.h - What an optimizer goes on from ------*- C++ -*-===//
//
// The moments of a parameter go on from those of the checkpoint. A program may
// train what the run that saved it had frozen: the checkpoint has the values of
// such a parameter and no state of an optimizer, which begins anew, at zeros.
//
// A step counter goes on from the one that counted the same parameters,
// whatever it is called. One that counts thawed parameters begins at 0, and so
// must count nothing else: Adam corrects its moments by it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_RESUMEDOPTIMIZER_H
#define WEFT_RUNTIME_CHECKPOINTS_RESUMEDOPTIMIZER_H

#include "weft/Abi/Executable.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <set>

namespace weft {

struct ResumedOptimizer {
  std::vector<std::string> thawed; // parameters, in the order of the program
  std::set<std::string> fresh;     // states that begin at zeros
  /// The saved counter that each counter of the program goes on from.
  std::map<std::string, std::string> counters;
  /// Those of the checkpoint of which it is known what they count.
  std::set<std::string> savedCounters;

  bool isFresh(const std::string &name) const { return fresh.count(name) > 0; }
  /// What a state of the program is called in the checkpoint.
  const std::string &savedName(const std::string &name) const;
  /// "the optimizer state of 'b' begins anew: frozen in the checkpoint", or ""
  /// if there is none.
  std::string describe() const;
};

/// What the optimizer of a program takes from a checkpoint, whose `model.json`
/// is `model`. A checkpoint error at `directory` names parameters whose steps
/// cannot be counted together.
Expected<ResumedOptimizer> resumeOptimizer(const Manifest &manifest,
                                           const Json &model,
                                           const std::string &directory,
                                           const WeftExecutable &executable,
                                           const Metadata &metadata);

/// What `model.json` says of the step counters of a program, if there are
/// several: the parameters that each counts.
Json describeCounters(const Metadata &metadata);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_RESUMEDOPTIMIZER_H
