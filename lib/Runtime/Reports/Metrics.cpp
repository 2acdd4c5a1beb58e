//===- Metrics.cpp - The JSONL file of a run ------------------------------===//

#include "weft/Runtime/Reports/Progress.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/OutputFile.h"
#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

/// The text of the file; nothing for a new or empty one. A device or a pipe,
/// which is only appended to, counts as a new file.
static Expected<std::optional<std::string>> oldText(const std::string &path) {
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT)
    return systemError(ExitCode::Storage, "cannot read the metrics", errno)
        .at(path);
  if (!exists || isWrittenInPlace(path) || info.st_size == 0)
    return std::optional<std::string>();
  auto old = readFile(path, std::numeric_limits<int64_t>::max());
  if (!old)
    return old.takeError().withCode(ExitCode::Storage);
  return std::optional<std::string>(std::move(*old));
}

/// Whether a first line is one that a run wrote.
static bool isHeader(const Json &line) {
  const Json *model = line.find("model");
  return line.find("weft") && model && model->isString();
}

/// The first line of `text`; a usage error if no run of weft wrote it.
static Expected<Json> readHeader(std::string_view text,
                                 const std::string &path) {
  size_t end = text.find('\n');
  if (end != text.npos)
    if (auto json = parseJson(text.substr(0, end), path); json)
      if (isHeader(*json))
        return json;
  return usageError("expects the metrics of a run, whose first line describes "
                    "it, but got another file")
      .at(path)
      .hint("it stays as it is; choose another --metrics, or --overwrite "
            "replaces it");
}

static Status checkSameModel(const Json &header, const std::string &now,
                             const std::string &path) {
  auto json = parseJson(now, path);
  const Json *is = header.find("fingerprint");
  const Json *wanted = json ? json->find("fingerprint") : nullptr;
  // Metrics of an older weft have the fingerprint of version 1.
  const Json *old = json ? json->find("fingerprint_1") : nullptr;
  if (!is || !wanted || *is == *wanted || (old && *is == *old))
    return Status::success();
  return inputError("expects the metrics of this model, but got metrics of ",
                    inQuotes(header.find("model")->asString()))
      .at(path)
      .hint("it stays as it is; choose another --metrics");
}

/// The step of a line.
static Expected<int64_t> stepOf(std::string_view line, const std::string &path,
                                int number) {
  auto json = parseJson(line, path);
  const Json *step = json ? json->find("step") : nullptr;
  if (step && step->isInt())
    return step->asInt();
  return inputError("expects a JSON object with a step, but got ",
                    inQuotes(std::string(line)))
      .at(path, number)
      .hint("it stays as it is; mend or remove the line, or choose another "
            "--metrics");
}

/// The header and the lines of `text` up to a step.
static Expected<MetricsStart> keptLines(std::string_view text, int64_t step,
                                        const std::string &path) {
  MetricsStart start;
  int64_t last = 0;
  int number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    size_t end = text.find('\n', at);
    if (end == text.npos) {
      start.warnings.push_back(path + ": the last line is torn and is cut off");
      break;
    }
    int64_t lineStep = 0;
    if (at > 0) {
      auto found = stepOf(text.substr(at, end - at), path, number);
      if (!found)
        return found.takeError();
      lineStep = *found;
    }
    if (lineStep <= step) {
      start.text += text.substr(at, end + 1 - at);
      last = std::max(last, lineStep);
    }
    at = end + 1;
  }
  if (step != keepAllSteps && last < step)
    start.warnings.push_back(path + ": the metrics end at step " +
                             std::to_string(last) + ", before step " +
                             std::to_string(step) + " of the checkpoint");
  return start;
}

Expected<MetricsStart> weft::startMetrics(const std::string &path,
                                          const std::string &header,
                                          std::optional<int64_t> keptStep,
                                          bool overwrites) {
  auto old = oldText(path);
  if (!old)
    return old.takeError();
  struct stat info;
  MetricsStart anew;
  anew.text = header + "\n";
  anew.isNew = ::lstat(path.c_str(), &info) != 0;
  anew.isEmpty = !*old;
  if (!*old)
    return anew;
  auto oldHeader = readHeader(**old, path);
  if (!oldHeader && overwrites)
    return anew;
  if (!oldHeader)
    return oldHeader.takeError();
  if (!keptStep) {
    anew.warnings.push_back(path + ": replacing the metrics of an earlier run");
    return anew;
  }
  if (Status s = checkSameModel(*oldHeader, header, path); !s)
    return s.takeError();
  return keptLines(**old, *keptStep, path);
}

Expected<MetricsLog> MetricsLog::open(const std::string &path,
                                      const MetricsStart &start,
                                      const FileLock &old) {
  MetricsLog log;
  log.path = path;
  if (isWrittenInPlace(path)) {
    if (Status s = assign(openInPlace(path), log.file); !s)
      return s.takeError();
    if (Status s = log.write(start.text); !s)
      return s.takeError();
    return log;
  }
  const IfTaken ifTaken = start.isNew ? IfTaken::Fail : IfTaken::Replace;
  if (Status s = writeFile(path, start.text, FileMode::Data, ifTaken); !s)
    return s.takeError();
  if (Status s = assign(FileLock::take(path), log.lock); !s)
    return s.takeError();
  log.file = Descriptor(withoutInterrupts(
      [&] { return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC); }));
  if (!log.file)
    return storageError("cannot write the metrics: ", errnoText(errno))
        .at(path);
  return log;
}

Status MetricsLog::line(const std::string &json) {
  return file ? write(json + "\n") : Status::success();
}

Status MetricsLog::write(const std::string &text) const {
  for (size_t done = 0; done < text.size();) {
    ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return storageError("cannot write the metrics: ", errnoText(errno))
          .at(path);
    done += size_t(n);
  }
  return Status::success();
}
