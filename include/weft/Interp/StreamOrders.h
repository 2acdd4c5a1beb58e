//===- StreamOrders.h - Orders that the events of a plan allow --*- C++ -*-===//

#ifndef WEFT_INTERP_STREAMORDERS_H
#define WEFT_INTERP_STREAMORDERS_H

#include "weft/Interp/Interp.h"

namespace weft {

/// What runs the module, as the function without a seed. Commands of a plan
/// with several streams run in one of the orders that its events allow, the
/// same in all runs of a program, by `streamOrder`; 0: as they stand.
std::unique_ptr<ModuleRunner>
makeRunner(mlir::ModuleOp module, ComputeMode mode, uint64_t streamOrder);

} // namespace weft

#endif // WEFT_INTERP_STREAMORDERS_H
