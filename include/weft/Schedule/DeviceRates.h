//===- DeviceRates.h - Rates of machines that are known ---------*- C++ -*-===//

#ifndef WEFT_SCHEDULE_DEVICERATES_H
#define WEFT_SCHEDULE_DEVICERATES_H

#include "weft/Analysis/Cost.h"

namespace weft {

/// Default rates, for commands that no table covers.
struct KnownRates {
  llvm::StringLiteral name;    // "cpu" or "h100"
  llvm::StringLiteral machine; // for people, as in "at the rates of ..."
  CostTable (*makeTable)();
};

/// "cpu", two x86 cores, and "h100", the costs of examples/clusters/h100.toml.
/// Null for any other name.
const KnownRates *findKnownRates(llvm::StringRef name);

} // namespace weft

#endif // WEFT_SCHEDULE_DEVICERATES_H
