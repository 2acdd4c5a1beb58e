//===- PlanCollectives.h - Collectives of plans -----------------*- C++ -*-===//

#ifndef WEFT_PLAN_PLANCOLLECTIVES_H
#define WEFT_PLAN_PLANCOLLECTIVES_H

#include "weft/Plan/Plan.h"

#define GET_OP_CLASSES
#include "weft/Plan/PlanCollectiveOps.h.inc"

namespace weft::plan {

/// Attribute of a collective: for how long of its est_us it uses a link, which
/// others may use as well.
inline constexpr llvm::StringLiteral kLinkUsAttr = "link_us";
/// Attribute of a collective: the link of a cluster that it sends over, which
/// others with the same text share. Without it, those along an axis share one.
inline constexpr llvm::StringLiteral kLinkAttr = "link";

/// Whether ranks take part in the command.
bool isCollective(mlir::Operation *command);

/// Whether a command is a gather or a reduction in a stream of its own: it runs
/// beside what computes.
bool isAsync(mlir::Operation *command);

} // namespace weft::plan

#endif // WEFT_PLAN_PLANCOLLECTIVES_H
