//===- Metrics.h - The JSONL file of a run ----------------------*- C++ -*-===//
//
// A first line describes the run, then one object per step and evaluation. A
// resumed run cuts the file back to the step it continues from.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_METRICS_H
#define WEFT_RUNTIME_REPORTS_METRICS_H

#include "weft/Base/FileLock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// What a metrics file holds before the first new line.
struct MetricsStart {
  std::string text;
  std::vector<std::string> warnings;
  /// Nothing has the name yet, and nothing must have it later.
  bool isNew = false;
  /// Nothing of an earlier run is there.
  bool isEmpty = false;
};

constexpr int64_t keepAllSteps = INT64_MAX;

/// Reads what is there and writes nothing. Without `keptStep` the file begins
/// anew with `header`; else its own header and the lines up to that step stay,
/// without a last line that a crash has torn. A file of something else, or with
/// a line that is no metrics line, is an error: it is never cut or overwritten,
/// except that the user `overwrites` a file of something else.
Expected<MetricsStart> startMetrics(const std::string &path,
                                    const std::string &header,
                                    std::optional<int64_t> keptStep,
                                    bool overwrites = false);

class MetricsLog {
public:
  /// Writes nowhere.
  MetricsLog() = default;

  /// Writes what the file begins with. The lock on the file that is replaced
  /// was taken before `start` was read; it holds nothing if there was none. Two
  /// runs do not write one file: the later one gets a storage error.
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
