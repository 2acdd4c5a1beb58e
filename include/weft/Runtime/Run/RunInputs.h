//===- RunInputs.h - What every part of a run is given ----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_RUNINPUTS_H
#define WEFT_RUNTIME_RUN_RUNINPUTS_H

#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Run/RunFlags.h"

namespace weft {

/// The same for the process and for each of its ranks, and changed by none.
struct RunInputs {
  const WeftExecutable &executable;
  const Metadata &metadata;
  const RunOptions &options;
  const Faults &faults;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RUNINPUTS_H
