//===- PlanDialect.td - All of the plan dialect ------------*- tablegen -*-===//
//
// What the dialect's documentation is made from.
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_DIALECT_TD
#define PLAN_DIALECT_TD

include "weft/Plan/PlanOps.td"
include "weft/Plan/PlanCollectiveOps.td"
include "weft/Plan/PlanTransferOps.td"

#endif // PLAN_DIALECT_TD
