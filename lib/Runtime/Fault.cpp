//===- Fault.cpp - Faults on purpose, for tests ---------------------------===//

#include "weft/Runtime/Fault.h"

#include "weft/Formats/Text.h"

#include <csignal>
#include <cstdlib>
#include <limits>
#include <regex>
#include <sys/resource.h>
#include <unistd.h>

using namespace weft;

static Expected<Fault> parseOne(const std::string &text) {
  static const char *const rule =
      "(storage:enospc@save|crash@save|crash@step|num:inf@step|num:nan@step)"
      "=([1-9][0-9]{0,17})(,param=(.+))?";
  std::smatch match;
  Error bad = usageError("WEFT_FAULT expects a fault such as crash@step=3, but "
                         "got " +
                         inQuotes(text));
  if (!std::regex_match(text, match, std::regex(rule)))
    return bad;
  Fault fault;
  std::string what = match[1];
  bool numeric = what.compare(0, 4, "num:") == 0;
  if (match[3].matched && !numeric)
    return bad;
  fault.kind = numeric                ? Fault::Kind::BadGradient
               : what == "crash@save" ? Fault::Kind::CrashInSave
               : what == "crash@step" ? Fault::Kind::CrashAfterStep
                                      : Fault::Kind::NoRoom;
  fault.at = std::strtoll(match[2].str().c_str(), nullptr, 10);
  fault.value = what == "num:nan@step" ? std::numeric_limits<float>::quiet_NaN()
                                       : std::numeric_limits<float>::infinity();
  fault.pattern = match[4];
  return fault;
}

Expected<Faults> Faults::parse(const std::string &text) {
  Faults faults;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(';', begin), text.size());
    auto fault = parseOne(text.substr(begin, end - begin));
    if (!fault)
      return fault.takeError();
    faults.list.push_back(*fault);
    begin = end + 1;
  }
  return faults;
}

Expected<Faults> Faults::fromEnvironment() {
  const char *text = std::getenv("WEFT_FAULT");
  return parse(text ? text : "");
}

const Fault *Faults::find(Fault::Kind kind, int64_t at) const {
  for (const Fault &fault : list)
    if (fault.kind == kind && fault.at == at)
      return &fault;
  return nullptr;
}

void Faults::crashIf(Fault::Kind kind, int64_t at) const {
  if (find(kind, at))
    kill(getpid(), SIGKILL);
}

FileSizeLimit::FileSizeLimit(int64_t bytes) {
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(rlim_t(bytes), limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

FileSizeLimit::~FileSizeLimit() {
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
}
