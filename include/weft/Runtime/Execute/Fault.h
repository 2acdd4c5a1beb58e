//===- Fault.h - Faults on purpose, for tests -------------------*- C++ -*-===//
//
// WEFT_FAULT makes a run fail at a chosen point, so that tests can watch the
// answer. Faults are separated by ';':
//   storage:enospc@save=L     saves of this run in the list L find a full disk
//   crash@save=L              SIGKILL after the files of such a save, before
//                             they are committed
//   crash@step=L              SIGKILL after the update of such a step
//   num:inf@step=L[,rank=R][,param=P]  an infinity in the gradient of the first
//   num:nan@step=L[,rank=R][,param=P]  parameter (whose name matches P) before
//                             the update of such a step: on all ranks that hold
//                             elements of it, or on rank R and its replicas,
//                             of the first parameter of which they hold any
//   slow@step=L[,rank=R][,seconds=S]  rank R (0) takes S (1) seconds longer to
//                             read the rows of such a step
//   slow@save=L[,rank=R][,seconds=S]  the same of the file of such a save
//   slow@load=1[,rank=R][,seconds=S]  and to read the checkpoint
//   flip@step=L[,rank=R][,param=P]  the lowest bit of the first element that
//                             rank R (0) holds of the first parameter (whose
//                             name matches P) is inverted after such a step
//   exit@step=L[,rank=R]      the process of rank R (0) ends with 3 after such
//                             a step, as one that a library has ended
//   skip@collective=L[,rank=R]  rank R (0) takes no part in such collectives of
//                             its programs, counted from its start
//   comm:delay=Nms            each collective of a program takes N ms longer
//   arena:poison              all memory of the program starts as bytes of
//                             0xFF instead of 0
// A list is made of numbers and ranges: 3 or 1,4-6,9.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_FAULT_H
#define WEFT_RUNTIME_EXECUTE_FAULT_H

#include "weft/Base/Results.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct Fault {
  enum class Kind {
    FullDisk,
    CrashInSave,
    CrashAfterStep,
    BadGradient,
    SlowStep,
    SlowSave,
    SlowLoad,
    FlippedBit,
    ExitAfterStep,
    SkippedCollective,
    SlowCollectives,
    Poison
  };
  static constexpr int64_t kAllRanks = -1;
  Kind kind = Kind::FullDisk;
  /// Ranges of saves or steps, from 1, ends included.
  std::vector<std::pair<int64_t, int64_t>> ranges;
  float value = 0.0f;  // BadGradient
  std::string pattern; // of a parameter: regular expression, "" for any name
  /// The rank that it happens on; kAllRanks is the default of BadGradient.
  int64_t rank = 0;
  int64_t seconds = 1;      // Slow...
  int64_t milliseconds = 0; // SlowCollectives

  bool happensAt(int64_t number) const;
  /// Whether the pattern is found in `name`. Takes time linear in the name:
  /// patterns have no back-references and no counts.
  bool matches(const std::string &name) const;
};

class Faults {
public:
  /// Parses the value of WEFT_FAULT; anything unknown is a usage error.
  static Expected<Faults> parse(const std::string &text);
  /// Parses the environment of this process.
  static Expected<Faults> fromEnvironment();

  /// The first fault of that kind at that save or step, or null.
  const Fault *find(Fault::Kind kind, int64_t at) const;
  /// Whether there is a fault of that kind, wherever it happens.
  bool has(Fault::Kind kind) const;
  /// Sleeps for the seconds of such faults of that rank.
  void sleepIf(Fault::Kind kind, int64_t at, int64_t rank) const;
  /// How much longer each collective of a program takes.
  std::chrono::milliseconds collectiveDelay() const;
  /// Ends the process if such a fault of that rank is wanted.
  void exitIf(int64_t step, int64_t rank) const;
  /// Dies of SIGKILL if such a fault is wanted.
  void crashIf(Fault::Kind kind, int64_t at) const;
  bool empty() const { return list.empty(); }
  const std::vector<Fault> &all() const { return list; }

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

#endif // WEFT_RUNTIME_EXECUTE_FAULT_H
