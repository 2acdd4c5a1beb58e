//===- PlanDialect.td - All of the plan dialect ------------*- tablegen -*-===//
//
// The source of the dialect's documentation.
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_DIALECT_TD
#define PLAN_DIALECT_TD

include "weft/Plan/PlanOps.td"
include "weft/Plan/PlanCollectiveOps.td"
include "weft/Plan/PlanTransferOps.td"

#endif // PLAN_DIALECT_TD
