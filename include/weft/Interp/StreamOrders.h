//===- StreamOrders.h - Orders that the events of a plan allow --*- C++ -*-===//

#ifndef WEFT_INTERP_STREAMORDERS_H
#define WEFT_INTERP_STREAMORDERS_H

#include "weft/Interp/Interp.h"

namespace weft {

/// The runner of the module, like the overload without `streamOrder`. Commands
/// of a plan with several streams run in one of the orders that its events
/// allow. The seed `streamOrder` selects the order, which is the same in all
/// runs of a program; 0 selects plan order.
std::unique_ptr<ModuleRunner>
makeRunner(mlir::ModuleOp module, ComputeMode mode, uint64_t streamOrder);

} // namespace weft

#endif // WEFT_INTERP_STREAMORDERS_H
