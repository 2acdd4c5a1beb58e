//===- Metrics.h - The JSONL file of a run ----------------------*- C++ -*-===//
//
// A first line describes the run, then one object per step and evaluation. A
// resumed run cuts the file back to the step it continues from.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_METRICS_H
#define WEFT_RUNTIME_REPORTS_METRICS_H

#include "weft/Base/Descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The contents of a metrics file before the first new line.
struct MetricsStart {
  std::string text;
  std::vector<std::string> warnings;
  /// The path does not exist; opening fails if it exists by then.
  bool isNew = false;
  /// The file has no lines of an earlier run.
  bool isEmpty = false;
};

constexpr int64_t keepAllSteps = INT64_MAX;

/// Reads an existing file and writes nothing. Without `keptStep` the new text
/// is `header`. Otherwise it is the old header and the lines up to that step,
/// without a last line that a crash has torn. A file that is no metrics file,
/// or has a line that is no metrics line, is an error: it is never truncated or
/// overwritten. With `overwrites` a file that is no metrics file is replaced.
Expected<MetricsStart> startMetrics(const std::string &path,
                                    const std::string &header,
                                    std::optional<int64_t> keptStep,
                                    bool overwrites = false);

class MetricsLog {
public:
  /// Writes nowhere.
  MetricsLog() = default;

  /// Writes the text of `start`. `old` is the lock on the replaced file, taken
  /// before `start` was read; it is empty if there was no file. Two runs cannot
  /// write one file: the later one gets a storage error.
  static Expected<MetricsLog>
  open(const std::string &path, const MetricsStart &start, const FileLock &old);

  /// Appends one line; a full disk is a storage error.
  Status line(const std::string &json);

private:
  Status write(const std::string &text) const;

  Descriptor file;
  FileLock lock;
  std::string path;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_METRICS_H
