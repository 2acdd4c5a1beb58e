//===- Durable.h - Step directories that are committed or absent *- C++ -*-===//
//
// A save writes into `.tmp-step_00000010-PID-N`, flushes files and directory,
// renames to `step_00000010`, flushes the parent, and only then retires old
// steps. Whatever moment a crash chooses, what was committed stays readable.
// The temporary directory is locked while its writer lives, so that the next
// run can tell a left-over from a save in progress.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_DURABLE_H
#define WEFT_FORMATS_DURABLE_H

#include "weft/Formats/Error.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

/// "step_00000010".
std::string stepDirectoryName(int64_t step);
/// The step of such a name; nothing for any other name.
std::optional<int64_t> parseStepDirectoryName(const std::string &name);

/// fsync of a file or a directory.
Status syncPath(const std::string &path);
/// Like mkdir -p; an existing directory is fine.
Status makeDirectories(const std::string &path);

/// A step directory that is being written. Dropped without commit(), it is
/// removed with everything inside.
class StepWriter {
public:
  StepWriter(StepWriter &&other) noexcept { *this = std::move(other); }
  StepWriter &operator=(StepWriter &&other) noexcept;
  ~StepWriter();

  /// Makes `saveDirectory` if needed. A step that is already committed is an
  /// error unless `replace`; an unusable directory in its place is replaced.
  static Expected<StepWriter> begin(const std::string &saveDirectory,
                                    int64_t step, bool replace = false);
  /// Where the files go until commit().
  const std::string &directory() const { return temporary; }
  /// fsync everything, rename, fsync the parent; returns the final directory.
  /// The manifest must be written by then, and be of this step.
  Expected<std::string> commit();

private:
  StepWriter() = default;
  void discard();

  std::string parent, temporary;
  int64_t stepNumber = 0;
  int lock = -1;
};

/// A step directory in a save directory.
struct StepEntry {
  int64_t step = 0;
  std::string path;
  /// Why it cannot be used; empty for a readable manifest of the right step.
  std::string problem;
};

/// Step directories by ascending step. A missing save directory gives none.
Expected<std::vector<StepEntry>> listSteps(const std::string &saveDirectory);

/// Removes all but the `keep` newest usable steps (keep <= 0 keeps all).
/// Unusable directories are left alone. A step is first renamed to a temporary
/// name, so that a half-deleted one is never taken for a step.
Status retireSteps(const std::string &saveDirectory, int64_t keep);
/// Removes temporaries whose writer is gone.
Status cleanTemporaries(const std::string &saveDirectory);

} // namespace weft

#endif // WEFT_FORMATS_DURABLE_H
