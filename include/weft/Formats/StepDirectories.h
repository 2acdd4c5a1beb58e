//===- StepDirectories.h - Steps, committed or absent -----------*- C++ -*-===//
//
// A save writes into `.tmp-step_00000010-PID-N`, flushes files and directory,
// renames to `step_00000010`, flushes the parent, and only then retires old
// steps. Whatever moment a crash chooses, what was committed stays readable.
// A committed step is never replaced. Who writes here holds a SaveLock.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_STEPDIRECTORIES_H
#define WEFT_FORMATS_STEPDIRECTORIES_H

#include "weft/Formats/SaveLocks.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

struct Manifest;

/// The file that makes a folder a step directory.
inline constexpr const char *manifestName = "MANIFEST.json";

/// "step_00000010".
std::string stepDirectoryName(int64_t step);
/// The step of such a name; nothing for any other name.
std::optional<int64_t> parseStepDirectoryName(const std::string &name);

/// A step directory that is being written. Dropped without commit(), it is
/// removed with everything inside.
class StepWriter {
public:
  StepWriter(StepWriter &&other) noexcept { *this = std::move(other); }
  StepWriter &operator=(StepWriter &&other) noexcept;
  ~StepWriter();

  /// Makes `saveDirectory` if needed. A step whose place is taken is a
  /// checkpoint error.
  static Expected<StepWriter> begin(const std::string &saveDirectory,
                                    int64_t step);
  /// Where the files go until commit().
  const std::string &directory() const { return temporary; }
  /// Writes the manifest of this step, fsync everything, rename, fsync the
  /// parent; returns the final directory.
  Expected<std::string> commit(const Manifest &manifest);

private:
  StepWriter() = default;

  std::string parent, temporary;
  int64_t stepNumber = 0;
};

/// The names in a directory, sorted; none if it does not exist.
Expected<std::vector<std::string>> listNames(const std::string &path);

/// Whether the path is a folder that a run has saved, or one of its steps.
bool holdsCheckpoints(const std::string &path);

/// The error of a folder without checkpoints. Its hint says what else the
/// folder is: a model, or one with save directories below.
Error noStepIn(const std::string &folder);

/// A step directory in a save directory.
struct StepEntry {
  int64_t step = 0;
  std::string path;
  /// Why its manifest cannot be used.
  std::optional<Error> problem;
  std::optional<double> valLoss = {}; // of an evaluation after it
  bool onlyBest = false;              // as in its manifest
};

/// A step directory that is not retired while the object lives.
struct HeldStep {
  std::string path;
  StepGuard guard;
};

/// Step directories by ascending step, their manifests not read. A missing
/// save directory gives none.
Expected<std::vector<StepEntry>> findSteps(const std::string &saveDirectory);
/// The same with manifests read; without steps that are retired meanwhile.
Expected<std::vector<StepEntry>> listSteps(const std::string &saveDirectory);

/// Whether a folder is a step directory: it has a manifest.
Expected<bool> isStepDirectory(const std::string &folder);
/// The directory that a step really lies in, behind links; spelt as in the path
/// where that is the same. Nothing if the step cannot be found.
std::optional<std::string> saveDirectoryOf(std::string stepDirectory);
/// The best step of the save directory DIR for the path `DIR/best`, unless
/// there is a directory of that name. Nothing for any other path.
Expected<std::optional<std::string>> findBestStep(const std::string &path);
/// The step directory that `folder` means: itself, the newest of a save
/// directory, or the best one (`DIR/best`). None is a checkpoint error.
Expected<HeldStep> holdStep(const std::string &folder);

/// The usable step with the lowest validation loss, the earliest of equal ones;
/// null if none has one.
const StepEntry *findBest(const std::vector<StepEntry> &steps);

/// Removes all but the `keep` newest usable steps (keep <= 0 keeps all) and,
/// with `keepBest`, the best one. With `keepBest` it also removes steps that
/// were saved only because they were the best and no longer are, except the
/// newest step, which a run resumes from. Unusable steps are left alone, and
/// steps that someone reads stay until the next time. A step is first renamed
/// to a temporary name, so that a half-deleted one is never taken for a step.
Status retireSteps(const std::string &saveDirectory, int64_t keep,
                   bool keepBest = false);
/// Renames a damaged step to `NAME.damaged`, or `NAME.damaged.2` and so on if
/// the name is taken; returns the name.
Expected<std::string> setAside(const StepEntry &entry);
/// Removes what earlier writers left unfinished. Only for the holder of the
/// SaveLock: it cannot tell a save in progress from a left-over.
Status cleanTemporaries(const std::string &saveDirectory);

} // namespace weft

#endif // WEFT_FORMATS_STEPDIRECTORIES_H
