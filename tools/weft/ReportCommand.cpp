//===- ReportCommand.cpp - weft report ------------------------------------===//

#include "CommandHelp.h"
#include "ReportPage.h"
#include "ToolCommands.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"

#include <cstdio>

using namespace weft;

static FlagTable reportFlags() {
  FlagSpec output = {"output",   FlagKind::String,
                     DriverFlag, "",
                     "FILE",     "the page, one HTML file; -: standard output"};
  output.shortName = "o";
  output.file = FlagFile::Written;
  return FlagTable({
      output,
      {"metrics", FlagKind::String, DriverFlag, "", "FILE",
       "metrics of the run; default: the file that its checkpoint names"},
      {"program", FlagKind::String, DriverFlag, "", "FILE",
       "program of the run: memory, timeline, commands, sharding"},
      {"trace", FlagKind::String, DriverFlag, "", "FILE",
       "measured times, from a run of the program with --trace FILE"},
      {"overwrite", FlagKind::Switch, DriverFlag, "", "",
       "let the page replace a file that weft did not write"},
      helpFlag(DriverFlag),
  });
}

/// Checks the flags that were given, and names the sources.
static Expected<ReportSources> chooseSources(const FlagValues &flags) {
  if (flags.positionals().empty())
    return usageError("expects a RUN, a save directory or a metrics file")
        .hint("weft report --help");
  ReportSources sources;
  sources.output = flags.getString("output");
  sources.metrics = flags.getString("metrics");
  sources.program = flags.getString("program");
  sources.trace = flags.getString("trace");
  if (sources.output.empty())
    return usageError("expects -o FILE, the page to write")
        .hint("such as -o report.html");
  if (!sources.trace.empty() && sources.program.empty())
    return usageError("--trace expects --program, the program of the trace");
  return sources;
}

static Status checkOutput(const ReportSources &sources, bool overwrites) {
  std::vector<FileUse> outputs;
  if (sources.output != kStandardOutput)
    outputs.push_back({"--output", sources.output});
  if (Status s = checkOutputPaths(outputs, sources.inputs(), manifestName); !s)
    return s;
  return checkReplaced(outputs, overwrites);
}

static Status writeReport(const std::string &name, ReportSources sources,
                          bool overwrites) {
  auto run = readRun(name, sources);
  if (!run)
    return run.takeError();
  if (Status s = checkOutput(sources, overwrites); !s)
    return s;
  std::optional<ReportedProgram> program;
  if (!sources.program.empty()) {
    auto read = readProgram(sources, run->fingerprint);
    if (!read)
      return read.takeError();
    program = std::move(*read);
  }
  if (run->metrics && run->metrics->tornLine)
    warn(sources.metrics + ":" + std::to_string(run->metrics->tornLine) +
         ": the line is torn and is left out");
  const std::string page = drawPage(*run, program ? &*program : nullptr);
  if (sources.output != kStandardOutput)
    return writeFile(sources.output, sealText(page, "<!--", " -->"));
  printText(page);
  return Status::success();
}

Expected<ExitCode> weft::reportCommand(const Arguments &args) {
  FlagTable table = reportFlags();
  FlagParseOptions options;
  options.program = "weft report";
  options.maxPositionals = 1;
  Expected<FlagValues> flags = table.parse(args, options);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp(
        {{"weft report RUN -o FILE [flags]"},
         {"RUN: a save directory, a checkpoint or a metrics file"}},
        {table});
    return ExitCode::Ok;
  }
  auto sources = chooseSources(*flags);
  if (!sources)
    return sources.takeError();
  if (Status s = writeReport(flags->positionals().front(), *sources,
                             flags->getSwitch("overwrite"));
      !s)
    return s.takeError();
  return ExitCode::Ok;
}
