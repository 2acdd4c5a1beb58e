//===- Fault.cpp - Faults on purpose, for tests ---------------------------===//

#include "weft/Runtime/Execute/Fault.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <regex.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace weft;

namespace {
/// The text of a fault before its '='.
struct FaultName {
  const char *text;
  Fault::Kind kind;
  float value = 0.0f;
  const char *options = ""; // " NAME=" of each allowed option
};

/// A POSIX extended regular expression.
class Pattern {
public:
  explicit Pattern(const std::string &text)
      : valid(regcomp(&regex, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  ~Pattern() {
    if (valid)
      regfree(&regex);
  }
  Pattern(const Pattern &) = delete;
  Pattern &operator=(const Pattern &) = delete;
  bool ok() const { return valid; }
  bool find(const std::string &name) const {
    return valid && regexec(&regex, name.c_str(), 0, nullptr, 0) == 0;
  }

private:
  regex_t regex;
  bool valid;
};
} // namespace

static const FaultName kNames[] = {
    {"storage:enospc@save", Fault::Kind::FullDisk},
    {"crash@save", Fault::Kind::CrashInSave},
    {"crash@step", Fault::Kind::CrashAfterStep},
    {"num:inf@step", Fault::Kind::BadGradient,
     std::numeric_limits<float>::infinity(), " rank= param="},
    {"num:nan@step", Fault::Kind::BadGradient,
     std::numeric_limits<float>::quiet_NaN(), " rank= param="},
    {"slow@step", Fault::Kind::SlowStep, 0.0f, " rank= seconds="},
    {"slow@save", Fault::Kind::SlowSave, 0.0f, " rank= seconds="},
    {"slow@load", Fault::Kind::SlowLoad, 0.0f, " rank= seconds="},
    {"flip@step", Fault::Kind::FlippedBit, 0.0f, " rank= param="},
    {"exit@step", Fault::Kind::ExitAfterStep, 0.0f, " rank="},
    {"skip@collective", Fault::Kind::SkippedCollective, 0.0f, " rank="},
    {"comm:delay", Fault::Kind::SlowCollectives},
    {"arena:poison", Fault::Kind::Poison},
};

/// A number from 1 to 10^18 - 1 that takes up the whole text, or 0.
static int64_t parseNumber(const std::string &text) {
  bool digits = !text.empty() && text.size() <= 18 && text[0] != '0' &&
                text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::strtoll(text.c_str(), nullptr, 10) : 0;
}

/// Appends N or N-M to the ranges.
static bool parseRange(const std::string &text, Fault &fault) {
  size_t dash = text.find('-');
  int64_t first = parseNumber(text.substr(0, dash));
  int64_t last =
      dash == std::string::npos ? first : parseNumber(text.substr(dash + 1));
  if (first < 1 || last < first)
    return false;
  fault.ranges.push_back({first, last});
  return true;
}

/// Back-references and counts make matching slow without bound.
static bool parsePattern(const std::string &text, Fault &fault) {
  bool slow = text.find('{') != std::string::npos || text.size() > 200;
  for (size_t i = 0; i + 1 < text.size(); ++i)
    slow |= text[i] == '\\' && text[i + 1] >= '1' && text[i + 1] <= '9';
  if (text.empty() || slow || !Pattern(text).ok())
    return false;
  fault.pattern = text;
  return true;
}

/// One of the options that `allowed` names: NAME=VALUE.
static bool parseOption(const std::string &text, const std::string &allowed,
                        Fault &fault) {
  const size_t value = text.find('=') + 1;
  const std::string name = text.substr(0, value);
  const std::string given = text.substr(value);
  if (value == 0 || allowed.find(" " + name) == std::string::npos)
    return false;
  if (name == "param=")
    return parsePattern(given, fault);
  const int64_t number = parseNumber(given);
  if (name == "rank=") {
    fault.rank = number;
    return number > 0 || given == "0";
  }
  fault.seconds = number;
  return number > 0 && number <= 3600;
}

/// Parses the text after the '=': a list, then options. A pattern extends to
/// the end of the text.
static bool parseWhere(const std::string &text, const std::string &allowed,
                       Fault &fault) {
  bool isInList = true;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    const bool isPattern = text.compare(begin, 6, "param=") == 0;
    const std::string part =
        text.substr(begin, isPattern ? std::string::npos : end - begin);
    isInList &= begin == 0 || part.find('=') == std::string::npos;
    if (isInList ? !parseRange(part, fault)
                 : !parseOption(part, allowed, fault))
      return false;
    if (isPattern)
      break;
    begin = end + 1;
  }
  return true;
}

/// "50ms", of at most an hour.
static bool parseDelay(const std::string &text, Fault &fault) {
  const size_t unit = text.size() < 2 ? 0 : text.size() - 2;
  fault.milliseconds =
      text.substr(unit) == "ms" ? parseNumber(text.substr(0, unit)) : 0;
  return fault.milliseconds > 0 && fault.milliseconds <= 3600000;
}

/// Parses the text after the name, with its '='.
static bool parseRest(const std::string &text, const char *options,
                      Fault &fault) {
  if (fault.kind == Fault::Kind::Poison || text.empty())
    return fault.kind == Fault::Kind::Poison && text.empty();
  if (fault.kind == Fault::Kind::SlowCollectives)
    return parseDelay(text.substr(1), fault);
  return parseWhere(text.substr(1), options, fault);
}

static Expected<Fault> parseOne(const std::string &text) {
  size_t equals = text.find('=');
  Fault fault;
  for (const FaultName &name : kNames) {
    if (text.compare(0, equals, name.text) != 0)
      continue;
    fault.kind = name.kind;
    fault.value = name.value;
    if (fault.kind == Fault::Kind::BadGradient)
      fault.rank = Fault::kAllRanks;
    if (parseRest(text.substr(std::min(equals, text.size())), name.options,
                  fault))
      return fault;
  }
  return usageError("WEFT_FAULT expects a fault such as crash@step=3 or "
                    "num:inf@step=2,5-7,param=REGEX, but got ",
                    inQuotes(text));
}

bool Fault::happensAt(int64_t number) const {
  for (auto [first, last] : ranges)
    if (number >= first && number <= last)
      return true;
  return false;
}

bool Fault::matches(const std::string &name) const {
  return pattern.empty() || Pattern(pattern).find(name);
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
    if (fault.kind == kind && fault.happensAt(at))
      return &fault;
  return nullptr;
}

bool Faults::has(Fault::Kind kind) const {
  return std::any_of(list.begin(), list.end(),
                     [&](const Fault &fault) { return fault.kind == kind; });
}

void Faults::sleepIf(Fault::Kind kind, int64_t at, int64_t rank) const {
  for (const Fault &fault : list)
    if (fault.kind == kind && fault.rank == rank && fault.happensAt(at))
      std::this_thread::sleep_for(std::chrono::seconds(fault.seconds));
}

std::chrono::milliseconds Faults::collectiveDelay() const {
  int64_t delay = 0;
  for (const Fault &fault : list)
    delay = std::max(delay, fault.milliseconds);
  return std::chrono::milliseconds(delay);
}

void Faults::exitIf(int64_t step, int64_t rank) const {
  for (const Fault &fault : list)
    if (fault.kind == Fault::Kind::ExitAfterStep && fault.rank == rank &&
        fault.happensAt(step))
      std::_Exit(3);
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
