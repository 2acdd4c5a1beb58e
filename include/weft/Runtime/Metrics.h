//===- Metrics.h - The JSONL file of a run ----------------------*- C++ -*-===//
//
// A first line describes the run, then one object per step and evaluation. A
// resumed run cuts the file back to the step it continues from.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_METRICS_H
#define WEFT_RUNTIME_METRICS_H

#include "weft/Formats/Error.h"

#include <cstdint>
#include <string>

namespace weft {

class MetricsLog {
public:
  /// Writes nowhere.
  MetricsLog() = default;
  MetricsLog(MetricsLog &&other) noexcept { *this = std::move(other); }
  MetricsLog &operator=(MetricsLog &&other) noexcept;
  ~MetricsLog();

  /// `header` is the first line of a new file. With `resumedStep` >= 0 the
  /// lines of later steps, and anything from a torn line on, are cut off and
  /// the old first line stays.
  static Expected<MetricsLog>
  open(const std::string &path, const std::string &header, int64_t resumedStep);

  /// Appends one line; a full disk is a storage error.
  Status line(const std::string &json);

private:
  int fd = -1;
  std::string path;
};

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_H
