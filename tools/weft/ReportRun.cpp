//===- ReportRun.cpp - The metrics and the flags of a run -----------------===//

#include "ReportData.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <sys/stat.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

static Error badLine(const std::string &what, std::string_view line,
                     const std::string &path, int number) {
  return inputError("expects " + what + ", but got " +
                    inQuotes(std::string(line)))
      .at(path, number);
}

static bool isMetrics(const Json &values) {
  return values.isObject() &&
         std::all_of(values.asObject().begin(), values.asObject().end(),
                     [](const JsonMember &member) {
                       return member.value.isNumber() || member.value.isNull();
                     });
}

/// A number that is not finite is null.
static Status checkFields(const Json &line, std::string_view text,
                          const std::string &path, int number) {
  for (const char *field :
       {"loss", "lr", "grad_norm", "loss_scale", "tokens_per_s", "step_ms",
        "data_ms", "comm_ms", "mem_bytes", "val_loss"})
    if (const Json *value = line.find(field);
        value && !value->isNumber() && !value->isNull())
      return badLine("a number or null in '" + std::string(field) + "'",
                     value->compact(), path, number);
  if (const Json *skipped = line.find("skipped"); skipped && !skipped->isBool())
    return badLine("true or false in 'skipped'", skipped->compact(), path,
                   number);
  for (const char *field : {"metrics", "val_metrics"})
    if (const Json *values = line.find(field); values && !isMetrics(*values))
      return badLine("numbers and null by name in '" + std::string(field) + "'",
                     values->compact(), path, number);
  const Json *step = line.find("step");
  if (!step || !step->isInt())
    return badLine("a JSON object with a step", text, path, number);
  return Status::success();
}

static Status addLine(RunMetrics &metrics, std::string_view text,
                      const std::string &path, int number) {
  auto line = parseJson(text, path);
  if (!line)
    return badLine("a JSON object with a step", text, path, number);
  if (Status s = checkFields(*line, text, path, number); !s)
    return s;
  if (line->find("loss"))
    metrics.steps.push_back(std::move(*line));
  else if (line->find("val_loss"))
    metrics.evaluations.push_back(std::move(*line));
  return Status::success();
}

static constexpr char kMetricsHint[] = "a run with --metrics FILE writes one";

static Status setHeader(RunMetrics &metrics, std::string_view text,
                        const std::string &path) {
  auto line = parseJson(text, path);
  const Json *model = line ? line->find("model") : nullptr;
  const FileKind kind = guessFileKind(path);
  if (!model && kind.isKnown() && !kind.isText)
    return inputError("expects the metrics of a run, but got ", kind.name)
        .at(path)
        .hint(kMetricsHint);
  if (!model || !model->isString() || !line->find("weft"))
    return badLine("the metrics of a run, whose first line describes it", text,
                   path, 1)
        .hint(kMetricsHint);
  metrics.header = std::move(*line);
  return Status::success();
}

Expected<RunMetrics> weft::readMetrics(const std::string &path) {
  auto text = readFile(path, std::numeric_limits<int64_t>::max());
  if (!text)
    return text.takeError();
  RunMetrics metrics;
  std::string_view rest = *text;
  int number = 1;
  for (; !rest.empty(); ++number) {
    const size_t end = rest.find('\n');
    if (end == rest.npos && number > 1) {
      metrics.tornLine = number;
      return metrics;
    }
    const std::string_view line = rest.substr(0, end);
    Status added = number == 1 ? setHeader(metrics, line, path)
                               : addLine(metrics, line, path, number);
    if (!added)
      return added.takeError();
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  if (number == 1)
    return inputError("expects the metrics of a run, but got an empty file")
        .at(path);
  return metrics;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

std::vector<FileUse> ReportSources::inputs() const {
  std::vector<FileUse> uses;
  for (const auto &[role, path] :
       {std::pair<const char *, std::string>{"the metrics", metrics},
        {"--program", program},
        {"--trace", trace}})
    if (!path.empty())
      uses.push_back({role, path});
  if (!stepDirectory.empty())
    uses.push_back({"the checkpoint", stepDirectory + "/" + manifestName});
  return uses;
}

static bool isFile(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// The metrics that the run of the checkpoint wrote: by the absolute path, else
/// by the path that the user gave.
static void findMetrics(RunFacts &run, ReportSources &sources) {
  for (const Settings *settings : {&run.record->files, &run.record->flags})
    if (const std::string *path = findSetting(*settings, "metrics");
        path && !path->empty()) {
      if (isFile(*path)) {
        sources.metrics = *path;
        run.lostMetrics.clear();
        return;
      }
      if (run.lostMetrics.empty())
        run.lostMetrics = *path;
    }
}

static Status readCheckpoint(RunFacts &run, ReportSources &sources) {
  auto held = holdStep(run.name);
  if (!held)
    return held.takeError();
  auto manifest = Manifest::read(held->path);
  if (!manifest)
    return manifest.takeError();
  sources.stepDirectory = held->path;
  run.savedStep = manifest->step;
  run.fingerprint = manifest->fingerprint;
  run.record = std::move(manifest->run);
  if (run.record && sources.metrics.empty())
    findMetrics(run, sources);
  return Status::success();
}

/// The metrics must be of the model of the checkpoint.
static Status checkModel(RunFacts &run, const std::string &path) {
  const Json *found = run.metrics->header.find("fingerprint");
  if (!found || !found->isString())
    return Status::success();
  if (run.fingerprint.empty())
    run.fingerprint = found->asString();
  if (run.fingerprint == found->asString())
    return Status::success();
  return inputError("expects the metrics of the model of the checkpoint, but "
                    "got metrics of ",
                    inQuotes(run.metrics->header.find("model")->asString()))
      .at(path, 1);
}

Expected<RunFacts> weft::readRun(const std::string &name,
                                 ReportSources &sources) {
  RunFacts run;
  run.name = name;
  struct stat info;
  if (::stat(name.c_str(), &info) != 0)
    return systemError(ExitCode::Input, "cannot open the run", errno)
        .at(name)
        .hint("RUN is a save directory or a metrics file");
  if (!S_ISDIR(info.st_mode)) {
    if (!sources.metrics.empty())
      return usageError("--metrics expects a RUN that is a save directory, "
                        "but got a file, ",
                        inQuotes(name));
    sources.metrics = name;
  } else if (Status s = readCheckpoint(run, sources); !s) {
    return s.takeError();
  }
  if (sources.metrics.empty())
    return run;
  auto metrics = readMetrics(sources.metrics);
  if (!metrics)
    return metrics.takeError();
  run.metrics = std::move(*metrics);
  if (Status s = checkModel(run, sources.metrics); !s)
    return s.takeError();
  return run;
}
