//===- ReportData.h - The files that weft report reads ----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_REPORTDATA_H
#define WEFT_TOOLS_WEFT_REPORTDATA_H

#include "ReportCharts.h"

#include "weft/Base/OutputFile.h"
#include "weft/Formats/RunRecord.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// A metrics file. Fields of its lines have the right kinds.
struct RunMetrics {
  Json header; // the first line, which describes the run
  std::vector<Json> steps, evaluations;
  int tornLine = 0; // the number of a last line without its end, or 0
};

/// Every error names the file and the line (exit 3). A last line that a crash
/// has torn is left out.
Expected<RunMetrics> readMetrics(const std::string &path);

/// Where the parts of a report come from; "" where nothing is given.
struct ReportSources {
  std::string stepDirectory; // the checkpoint
  std::string metrics, program, trace, output;

  std::vector<FileUse> inputs() const;
};

struct RunFacts {
  std::string name; // RUN, as it was given
  std::optional<int64_t> savedStep;
  std::optional<RunRecord> record;
  std::optional<RunMetrics> metrics;
  /// The metrics file that the run wrote, which is no longer there; or "".
  std::string lostMetrics;
  std::string fingerprint; // of the model, "" if unknown
};

/// Reads the run in `name`: a save directory, a step directory or a metrics
/// file. Sets the sources that it finds.
Expected<RunFacts> readRun(const std::string &name, ReportSources &sources);

/// A program of the run, and a trace of the program.
struct ReportedProgram {
  Json meta, sharding;
  std::optional<Json> profile; // output of weft inspect --profile
  std::vector<Slice> estimated, measured;
  /// Bytes in use over the estimated time of a step, in microseconds.
  std::vector<std::pair<double, double>> memory;
};

/// Reads the program and the trace. A program of another model than
/// `fingerprint` and a trace of another program are errors (exit 3).
Expected<ReportedProgram> readProgram(const ReportSources &sources,
                                      const std::string &fingerprint);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_REPORTDATA_H
