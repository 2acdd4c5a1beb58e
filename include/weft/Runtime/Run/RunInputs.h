//===- RunInputs.h - What every part of a run is given ----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_RUNINPUTS_H
#define WEFT_RUNTIME_RUN_RUNINPUTS_H

#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Run/RunFlags.h"

namespace weft {

/// The same for the process and for each of its ranks, and changed by none.
struct RunInputs {
  const WeftExecutable &executable;
  const Metadata &metadata;
  const RunOptions &options;
  const Faults &faults;
  /// Of a run whose ranks are processes; null: all are in this one.
  RankProcess *process = nullptr;

  int64_t ranks() const { return metadata.ranks(); }
  /// Whether rank 0 is in this process: the one that speaks and saves for all.
  bool isFirst() const { return !process || process->rank() == 0; }
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RUNINPUTS_H
