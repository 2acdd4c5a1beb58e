//===- DeviceRates.h - Rates of machines that are known ---------*- C++ -*-===//

#ifndef WEFT_SCHEDULE_DEVICERATES_H
#define WEFT_SCHEDULE_DEVICERATES_H

#include "weft/Analysis/Cost.h"

namespace weft {

/// What rates there are without a table: "cpu", two x86 cores, and "h100", the
/// costs of examples/clusters/h100.toml. Failure for any other name.
llvm::FailureOr<CostTable> findKnownRates(llvm::StringRef name);

} // namespace weft

#endif // WEFT_SCHEDULE_DEVICERATES_H
