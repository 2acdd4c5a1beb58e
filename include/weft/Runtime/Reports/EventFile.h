//===- EventFile.h - The numbers of a run for TensorBoard -------*- C++ -*-===//
//
// A TFRecord file of protobuf messages `Event`, one for each step and
// evaluation. Its scalars have the names of the metrics. An event file is never
// appended to: each run writes a file of its own, and TensorBoard joins the
// files of a directory by time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_EVENTFILE_H
#define WEFT_RUNTIME_REPORTS_EVENTFILE_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct StepReport;
struct EvalReport;

class EventFile {
public:
  /// Writes nowhere.
  EventFile() = default;

  /// Creates a file in `directory`, which is created if needed. TensorBoard
  /// hides what earlier files of the directory have from `firstStep` on: a
  /// resumed run repeats these steps.
  static Expected<EventFile> create(const std::string &directory,
                                    std::optional<int64_t> firstStep);

  /// Appends the scalars; a full disk is a storage error.
  Status step(const StepReport &report);
  Status eval(const EvalReport &report);

private:
  using Scalars = std::vector<std::pair<std::string, double>>;

  Status scalars(int64_t step, const Scalars &values) const;
  /// Appends a record with one write, so that a reader sees it whole.
  Status record(const std::string &event) const;

  Descriptor file;
  std::string path;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_EVENTFILE_H
