//===- Run.h - One run of an executable -------------------------*- C++ -*-===//
//
// Part of the process: everything between the command line and the exit code
// that exists once, whatever the number of ranks in the process. Of several
// processes, the one with rank 0 chooses, saves, measures and reports for all.
// Flags, signals, progress, metrics, data files, the choice of a checkpoint and
// the lock of the save directory belong to a Run. Devices and steps belong to a
// RankPart. Inputs are checked completely (machine, data, checkpoint, weights,
// memory) before anything is written.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RUN_H
#define WEFT_RUNTIME_RUN_RUN_H

#include "weft/Abi/Executable.h"
#include "weft/Base/Results.h"
#include "weft/Runtime/Run/RunRanks.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Each process reads its own command line, program and files, maybe on another
/// machine. Settings that would lead processes apart are compared before the
/// first step.
///
/// A setting that all processes must share: its name ("--lr"), its value in
/// this process, and the exit code of processes that differ in it.
struct SharedSetting {
  std::string name, value;
  ExitCode code = ExitCode::Usage;
};

/// A text of the settings, for the other processes.
std::string formatSharedSettings(const std::vector<SharedSetting> &settings);

/// Compares the texts of all processes, by rank: an error that names the first
/// setting that differs, with both values ("none" where a process lacks it).
Status compareSharedSettings(const std::vector<std::string> &texts);

/// A digest of the tables of a program.
std::string programDigest(const WeftExecutable &executable);

class Run {
public:
  Run(const RunInputs &given, std::string executablePath)
      : options(given.options), inputs{given.executable, given.metadata,
                                       options, given.faults, given.process},
        executable(inputs.executable), metadata(inputs.metadata),
        executablePath(std::move(executablePath)), ranks(inputs) {}

  /// `ready` is an error of the command line, or success. One of several
  /// processes notifies the others of an error before it ends.
  Expected<ExitCode> execute(Status ready);

private:
  /// A warning, once for all processes.
  void tell(const std::string &text, const std::string &hint = "") const;
  bool isFirst() const { return inputs.isFirst(); }
  Status checkFiles() const;
  Status checkPlaces() const;
  Status settleSharedSettings(Status own,
                              const std::vector<SharedSetting> &mine);
  Status checkStart(Status ready);
  Status chooseCommonLevel();
  Status chooseCommonLibrary();
  Expected<std::vector<std::string>> describeTunings();
  Status chooseCommonAlgorithms();
  Status checkFound();
  Status findInputs();
  Status prepare();
  Status openInputs();
  Status lockSaves();
  ResumeTarget resumeTarget() const;
  Status chooseState();
  Status identifyData();
  void warnOfTokenizer() const;
  void warnOfChanges() const;
  void warnOfFewReplicas() const;
  Status takeState();
  Status checkLength();
  Expected<std::optional<ResumePoint>>
  shareChoice(Expected<std::optional<ResumePoint>> own);
  Expected<std::string> findDamage(Status &read);
  Status readCheckpoint();
  Status readWeights();
  Status loadState();
  Status prepareOutputs(const SavePolicy &policy) const;
  EndNotice endNotice() const;
  Expected<ExitCode> train();
  void sayEnd(RunSummary summary) const;
  Expected<ExitCode> trainTogether(const SavePolicy *policy, Journal &journal,
                                   const StopRequest &signals);
  Expected<MetricsStart> metricsStart() const;
  bool wroteMetrics() const;
  Expected<MetricsLog> openMetrics() const;
  Expected<Journal> openJournal(Progress progress) const;
  void warnOfRandomWeights(const char *what) const;
  Status evaluateAlone();
  /// Whether a training has shown a sample of its last step.
  bool hasShownSample() const;
  Status sample();
  Status sampleIds();
  Status predictAlone();
  void sayPredictions(const std::vector<std::string> &outputs) const;
  Status checkResults() const;
  Expected<ExitCode> tune();

  /// The lines that --dry-run prints and a run begins with.
  std::string describe() const;
  std::string describeTypes() const;
  std::string describeScaler() const;
  std::string describeEvaluation() const;
  std::string describePrediction() const;
  std::string describeData() const;
  std::string describeReplicas() const;
  std::string describeTraining() const;
  /// The first line of the metrics.
  std::string metricsHeader() const;

  /// The given options. With --epochs, the steps are computed from the data.
  RunOptions options;
  const RunInputs inputs;
  const WeftExecutable &executable;
  const Metadata &metadata;
  std::string executablePath;

  SaveLock lock;
  DataSet data;
  RunRecord record;
  std::optional<ResumePoint> resume;
  std::optional<WeightSource> weights;
  TrainState state;
  Ranks ranks;
};

/// The step at which a training that resumes at `state` has read all `rows` of
/// its data `epochs` times, with `rowsOfStep` rows in each further step.
Expected<int64_t> countEpochSteps(const TrainState &state, int64_t epochs,
                                  int64_t rows, int64_t rowsOfStep);

/// Parameters of the model, counted in elements.
int64_t countParameters(const WeftExecutable &executable);

/// The seed and the order of rows continue as in the checkpoint. Flags that
/// contradict it are a usage error.
Expected<TrainState> resumedState(const Manifest &manifest,
                                  const RunOptions &options);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RUN_H
