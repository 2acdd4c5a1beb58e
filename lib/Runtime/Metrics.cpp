//===- Metrics.cpp - The JSONL file of a run ------------------------------===//

#include "weft/Runtime/Metrics.h"

#include "weft/Formats/Json.h"
#include "weft/Formats/MappedFile.h"
#include "weft/Formats/OutputFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

MetricsLog &MetricsLog::operator=(MetricsLog &&other) noexcept {
  std::swap(fd, other.fd);
  std::swap(path, other.path);
  return *this;
}

MetricsLog::~MetricsLog() {
  if (fd >= 0)
    close(fd);
}

/// The step of a line, or -1 when the line is damaged.
static int64_t stepOf(std::string_view line, const std::string &path) {
  auto json = parseJson(line, path);
  if (!json)
    return -1;
  const Json *step = json->find("step");
  return step && step->isInt() ? step->asInt() : -1;
}

/// The lines of `text` that a run resumed at `step` keeps.
static std::string_view keptLines(std::string_view text, int64_t step,
                                  const std::string &path) {
  size_t end = text.find('\n');
  if (end == std::string_view::npos ||
      !parseJson(text.substr(0, end), path).ok())
    return {};
  for (++end; end < text.size();) {
    size_t next = text.find('\n', end);
    if (next == std::string_view::npos)
      break;
    int64_t lineStep = stepOf(text.substr(end, next - end), path);
    if (lineStep < 0 || lineStep > step)
      break;
    end = next + 1;
  }
  return text.substr(0, end);
}

/// What the file holds before the first new line.
static Expected<std::string> beginning(const std::string &path,
                                       const std::string &header,
                                       int64_t resumedStep) {
  struct stat info;
  if (resumedStep >= 0 && stat(path.c_str(), &info) == 0) {
    auto old = MappedFile::open(path);
    if (!old)
      return old.takeError().withCode(ExitCode::Storage);
    std::string_view text(reinterpret_cast<const char *>(old->data()),
                          size_t(old->size()));
    std::string kept(keptLines(text, resumedStep, path));
    if (!kept.empty())
      return kept;
  }
  return header + "\n";
}

Expected<MetricsLog> MetricsLog::open(const std::string &path,
                                      const std::string &header,
                                      int64_t resumedStep) {
  auto text = beginning(path, header, resumedStep);
  if (!text)
    return text.takeError();
  if (Status s = writeFile(path, *text); !s)
    return s.takeError();
  MetricsLog log;
  log.path = path;
  log.fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log.fd < 0)
    return storageError("cannot write the metrics: " + errnoText(errno))
        .at(path);
  return log;
}

Status MetricsLog::line(const std::string &json) {
  if (fd < 0)
    return Status::success();
  std::string text = json + "\n";
  for (size_t done = 0; done < text.size();) {
    ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return storageError("cannot write the metrics: " + errnoText(errno))
          .at(path);
    done += size_t(n);
  }
  return Status::success();
}
