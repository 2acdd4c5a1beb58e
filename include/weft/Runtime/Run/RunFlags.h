//===- RunFlags.h - The flags of a run --------------------------*- C++ -*-===//
//
// RunOptions is the parsed form of the table in Base/FlagNames.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RUNFLAGS_H
#define WEFT_RUNTIME_RUN_RUNFLAGS_H

#include "weft/Base/FlagNames.h"
#include "weft/Formats/RunRecord.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Reports/Progress.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

struct WeftExecutable;

namespace weft {

/// The learning-rate schedules of a run. All arithmetic is double; the value
/// that reaches the optimizer is the one written to the metrics.
enum class RateScheduleKind { Constant, Linear, Cosine, Wsd };

/// A schedule, with s the step from 1 and i = s - 1:
///   i < warmup         lr * (i + 1) / warmup
///   constant           lr
///   linear             minLr + (1 - r) * (lr - minLr)
///   cosine             minLr + (1 + cos(pi * r)) / 2 * (lr - minLr)
///   wsd                lr before d = floor(0.8 * decaySteps), then
///                      minLr + (1 - sqrt((i - d) / (decaySteps - d)))
///                            * (lr - minLr)
/// where r = (i - warmup) / (decaySteps - warmup). From i >= decaySteps on the
/// decaying schedules give minLr.
struct RateSchedule {
  RateScheduleKind kind = RateScheduleKind::Constant;
  double lr = 1e-3;
  double minLr = 0.0;
  int64_t warmup = 0;
  int64_t decaySteps = 0;

  /// The learning rate of `step`, counted from 1.
  double at(int64_t step) const;
};

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
  std::string metrics, tensorboard, trace, dumpGrads, predictions;
  ProgressKind progress = ProgressKind::Line;

  std::optional<std::string> generate;
  int64_t maxNewTokens = 100, topK = 0, sampleEvery = 0;
  double temperature = 1.0, topP = 1.0, minP = 0.0, repetitionPenalty = 1.0;
  std::string stop; // "": none
  /// The ids of `generate` (checkGenerate), and whether a tokenizer has made
  /// them; else they are its bytes.
  std::vector<int32_t> promptIds;
  bool samplesWithTokenizer = false;
  /// A prompt of token numbers in place of `generate`, which is then empty.
  std::optional<std::vector<int32_t>> generateIds;
  std::vector<int32_t> stopIds;

  bool graphs = true;
  GatherBy gather = GatherBy::Auto;
  std::string tune, tuning; // files, written and read, or ""
  bool dryRun = false, version = false;
  std::optional<HelpLayout> help;
  std::optional<std::string> config; // the text of --print-config
  /// Taken from the checkpoint that the run continues, as "--lr=0.001".
  std::vector<std::string> kept;
  RunRecord record; // for the next checkpoints, without the data
  /// The files that flags name, by use.
  std::vector<FileUse> filesRead, filesWritten;
  bool overwrites = false; // files that weft did not write
  /// Hyper-parameters that were given on the command line or by a file, by flag
  /// name.
  std::vector<std::string> given;
  /// Flags that must be equal in all processes of a run: "--lr=0.1".
  std::vector<std::string> common;

  bool trains() const {
    return (epochs || (steps && *steps > 0)) && !evalOnly && !predicts &&
           tune.empty();
  }
  /// Whether the run reads rows of data.
  bool readsRows() const { return trains() || evalOnly || predicts; }
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

/// Compile flags in the file of a run have the values that the program was
/// compiled with, as far as it knows them: exit 2.
Status checkCompiledFlags(const FlagValues &flags, const Metadata &metadata);

/// The help text of an executable: of the flags that it takes.
std::string runHelp(const Metadata &metadata, const std::string &program,
                    const HelpLayout &layout);

//===- Kept flags ---------------------------------------------------------===//

// A checkpoint records the flags of its run. A resumed run takes the flags that
// its command line does not give, and names the settings that changed.

/// A run flag that checkpoints record.
struct KeptFlag {
  const char *name;
  bool named;     // results depend on it: a warning names a change
  bool isFile;    // recorded with its absolute path
  bool evaluates; // also taken by --eval-only
};

/// The flags that checkpoints record. All others belong to one start of the
/// program, to the machine, or to the state in the checkpoint (seed,
/// shuffling).
std::vector<KeptFlag> keptFlags();

/// The flags of the run that saved the checkpoint that the flags --resume and
/// --save-dir name ("": not given). None if there is no checkpoint or it cannot
/// be read, which the run reports.
Settings findRecordedFlags(const std::string &resume,
                           const std::string &saveDir);

/// The settings that a command line takes from its checkpoint.
struct KeptSettings {
  std::optional<RunRecord> record;
  std::vector<std::string> args; // "--lr=0.001"
  Settings inputs;               // the files among them that the run reads
};

/// Reads the manifest that `given` resumes from. Nothing without --resume, and
/// for --resume=auto without a checkpoint. A checkpoint of another model is a
/// checkpoint error that names the first difference.
Expected<KeptSettings> findKeptSettings(const FlagValues &given,
                                        const FlagTable &table,
                                        const Metadata &metadata,
                                        const WeftExecutable &executable);

/// Checks that the files that only the checkpoint names exist. Exit 3 as for a
/// file that cannot be opened; the hint says that the checkpoint names it.
Status checkInputsAreThere(const KeptSettings &kept);

/// The record of a run with the flags `values`, some of them from `kept`.
RunRecord recordOf(const FlagValues &values, const FlagTable &table,
                   const KeptSettings &kept, const Metadata &metadata);

/// The differences between the run of a checkpoint and this one, by flag:
/// "--lr was 0.001 in the checkpoint, now 0.002".
std::vector<std::string> changedSettings(const RunRecord &was,
                                         const RunRecord &now);

/// A clause that says how a tokenizer file of the program's model differs from
/// the one of a checkpoint, by the checkpoint's model.json; "" if none does.
std::string changedTokenizer(const Json &model, const Metadata &metadata);

//===- Learning rates -----------------------------------------------------===//

/// Rules between the numbers of a schedule and the steps of a run that trains:
/// exit 2.
Status checkRates(const RunOptions &options);

/// A warning if the schedule ends before the run does, or "".
std::string warnOfEarlyEnd(const RunOptions &options);

/// A warning if the default of --lr-decay-steps, the steps of the training, has
/// moved since `was` and `nextStep` therefore gets another learning rate, or
/// "".
std::string warnOfJump(const RunOptions &options, const RunRecord &was,
                       const RunRecord &now, int64_t nextStep);

/// The same for the process and for each of its ranks, and changed by none.
struct RunInputs {
  const WeftExecutable &executable;
  const Metadata &metadata;
  const RunOptions &options;
  const Faults &faults;
  /// Of a run whose ranks are processes; null: all are in this one.
  RankProcess *process = nullptr;

  int64_t ranks() const { return metadata.ranks(); }
  /// Whether rank 0 is in this process: the one that speaks and saves for all.
  bool isFirst() const { return !process || process->rank() == 0; }
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RUNFLAGS_H
