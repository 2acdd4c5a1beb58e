//===- Fault.h - Faults on purpose, for tests -------------------*- C++ -*-===//
//
// WEFT_FAULT makes a run fail at a chosen point, so that tests can watch the
// answer. Faults are separated by ';':
//   storage:enospc@save=N     the N-th save of this run finds no room
//   crash@save=N              SIGKILL after the files of the N-th save, before
//                             they are committed
//   crash@step=N              SIGKILL after the update of step N
//   num:inf@step=N[,param=R]  an infinity in the gradient of the first
//   num:nan@step=N[,param=R]  parameter (whose name matches R) before the
//                             update of step N
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_FAULT_H
#define WEFT_RUNTIME_FAULT_H

#include "weft/Formats/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct Fault {
  enum class Kind { NoRoom, CrashInSave, CrashAfterStep, BadGradient };
  Kind kind = Kind::NoRoom;
  int64_t at = 0;      // save or step, from 1
  float value = 0.0f;  // BadGradient
  std::string pattern; // BadGradient: regular expression, "" for any name
};

class Faults {
public:
  /// Parses the value of WEFT_FAULT; anything unknown is a usage error.
  static Expected<Faults> parse(const std::string &text);
  /// Of this process's environment.
  static Expected<Faults> fromEnvironment();

  /// The fault of that kind at that save or step, or null.
  const Fault *find(Fault::Kind kind, int64_t at) const;
  /// Dies of SIGKILL if such a fault is wanted.
  void crashIf(Fault::Kind kind, int64_t at) const;
  bool empty() const { return list.empty(); }

private:
  std::vector<Fault> list;
};

/// While it lives, files of this process cannot grow beyond `bytes` (a full
/// disk as the kernel reports it: every write path runs for real).
class FileSizeLimit {
public:
  explicit FileSizeLimit(int64_t bytes);
  ~FileSizeLimit();
  FileSizeLimit(const FileSizeLimit &) = delete;
  FileSizeLimit &operator=(const FileSizeLimit &) = delete;

private:
  uint64_t before;
};

} // namespace weft

#endif // WEFT_RUNTIME_FAULT_H
