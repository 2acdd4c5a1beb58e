//===- RunFlags.h - The flags of a run --------------------------*- C++ -*-===//
//
// RunOptions is the parsed form of the table in Base/FlagNames.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RUNFLAGS_H
#define WEFT_RUNTIME_RUN_RUNFLAGS_H

#include "weft/Base/FlagNames.h"
#include "weft/Runtime/Checkpoints/ResumeOptions.h"
#include "weft/Runtime/Data/DataOptions.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/KeptFlags.h"
#include "weft/Runtime/Run/LearningRate.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// All options of a run.
struct RunOptions : DataOptions, ResumeOptions {
  bool shuffle = true;
  std::optional<int64_t> steps;
  /// In place of `steps`, which Run sets once it knows the rows of the data.
  std::optional<int64_t> epochs;
  int64_t stopAfter = 0; // 0: run to the end
  int64_t accum = 1;

  RateSchedule schedule;
  bool decaysToEnd = false; // decaySteps are the steps of the run
  double weightDecay = 0.0;
  /// Of optimizers with a default of their own, by input of `apply`.
  std::map<std::string, double> ownDecays;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double momentum = 0.0, clip = 0.0;

  int64_t seed = 0;
  bool seedGiven = false, shuffleGiven = false;
  std::string initFrom;      // "": as compiled; "none": the init program
  int64_t threads = 0;       // 0: as many as the process may use
  int64_t loopback = 0;      // ranks as threads of the process; 0: not given
  double timeout = 60;       // seconds that a rank waits for another
  int64_t checkReplicas = 0; // steps between comparisons; 0: only at saves

  int64_t logEvery = 1, evalEvery = 0, evalSteps = 0;
  bool evalOnly = false;
  int64_t saveEvery = 0, keep = 0;
  bool keepBest = false;
  std::string metrics, trace, dumpGrads;
  ProgressKind progress = ProgressKind::Line;

  std::optional<std::string> generate;
  int64_t maxNewTokens = 100, topK = 0, sampleEvery = 0;
  double temperature = 1.0;

  bool graphs = true;
  GatherBy gather = GatherBy::Auto;
  std::string tune, tuning; // files, written and read, or ""
  bool dryRun = false, help = false, version = false;
  /// Taken from the checkpoint that the run continues, as "--lr=0.001".
  std::vector<std::string> kept;
  RunRecord record; // for the next checkpoints, without the data
  /// The files that flags name, by use.
  std::vector<FileUse> filesRead, filesWritten;
  bool overwrites = false; // files that weft did not write
  /// Hyper-parameters that were given on the command line, by flag name.
  std::vector<std::string> given;
  /// Flags that must be equal in all processes of a run: "--lr=0.1".
  std::vector<std::string> common;

  bool trains() const {
    return (epochs || (steps && *steps > 0)) && !evalOnly && tune.empty();
  }
};

/// Parses the command line of an executable. Defaults recorded in `metadata`
/// replace the defaults of the table. Rules between flags, and between flags
/// and the program (accumulation, clipping), are checked here: exit 2.
Expected<RunOptions> parseRunOptions(const std::vector<std::string> &args,
                                     const Metadata &metadata,
                                     const WeftExecutable &executable,
                                     const std::string &program);

/// Sets the steps of a training, and the end of its schedule with them.
void setSteps(RunOptions &options, int64_t steps);

/// Rules between flags and the number of ranks: exit 2.
Status checkRankFlags(const FlagValues &flags, const Metadata &metadata,
                      const RunOptions &options);

/// Flags for another kind of device than the program's target.
std::vector<std::string_view> flagsOfOthers(const Metadata &metadata);

/// The run flags with the defaults that the compiler recorded. The texts belong
/// to `metadata`.
std::vector<FlagSpec> specsFor(const Metadata &metadata);

bool isForCuda(const Metadata &metadata);

/// The compile flags whose values a program knows, by name.
std::map<std::string, std::string> compiledFlags(const Metadata &metadata);

/// The help text of an executable: of the flags that it takes.
std::string runHelp(const Metadata &metadata, const std::string &program);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RUNFLAGS_H
