//===- MachineMemory.h - Memory that a process has and may have -*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTE_MACHINEMEMORY_H
#define WEFT_RUNTIME_EXECUTE_MACHINEMEMORY_H

#include "weft/Base/Error.h"

#include <cstdint>
#include <string>

namespace weft {

/// The most memory that this process has held at once since it was started:
/// VmHWM. (ru_maxrss also counts what ran in the process before exec.)
int64_t peakMemory();

/// What this process may still take.
struct MemoryBudget {
  int64_t bytes = INT64_MAX;
  /// What sets the limit: "the machine has", "the control group leaves" ...
  std::string limit;
};

/// The smallest of: the memory of the machine, what the control groups of this
/// process (v1 and v2, the group and those around it) allow beyond what is used
/// in them, and the limits on address space and data. Beyond the first two the
/// system kills the process, so they are looked at before. `root` stands before
/// the paths of files, for tests.
MemoryBudget processBudget(const std::string &root = "");

/// The memory of the machine alone.
MemoryBudget machineBudget();

/// Exit 4 if a program that needs so many bytes for each of `ranks` does not
/// fit.
Status checkMemory(int64_t bytes, const MemoryBudget &budget,
                   int64_t ranks = 1);

/// What other programs leave of the machine's memory and swap; INT64_MAX where
/// the system does not say.
int64_t availableMemory(const std::string &root = "");

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_MACHINEMEMORY_H
