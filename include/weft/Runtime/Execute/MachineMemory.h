//===- MachineMemory.h - Memory use and limits of a process -----*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTE_MACHINEMEMORY_H
#define WEFT_RUNTIME_EXECUTE_MACHINEMEMORY_H

#include "weft/Base/Results.h"

#include <cstdint>
#include <string>

namespace weft {

/// Peak memory of this process since its start, in bytes: VmHWM. (ru_maxrss
/// also counts programs that ran in the process before exec.)
int64_t peakMemory();

/// Memory that this process may still allocate.
struct MemoryBudget {
  int64_t bytes = INT64_MAX;
  /// The source of the limit: "the machine has", "the control group leaves" ...
  std::string limit;
};

/// The smallest of the memory of the machine, the free memory of the control
/// groups of this process (v1 and v2, the group and its ancestors), and the
/// free parts of the limits on address space and data. The system kills a
/// process that exceeds one of the first two, so they are checked in advance.
/// `root` is a prefix of the paths of files, for tests.
MemoryBudget processBudget(const std::string &root = "");

/// The memory of the machine alone.
MemoryBudget machineBudget();

/// Exit 4 if a program that needs so many bytes for each of `ranks` does not
/// fit.
Status checkMemory(int64_t bytes, const MemoryBudget &budget,
                   int64_t ranks = 1);

/// Memory and swap of the machine that other programs leave, in bytes;
/// INT64_MAX if the system does not report it.
int64_t availableMemory(const std::string &root = "");

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_MACHINEMEMORY_H
