//===- PlanCollectives.h - Collectives of plans -----------------*- C++ -*-===//

#ifndef WEFT_PLAN_PLANCOLLECTIVES_H
#define WEFT_PLAN_PLANCOLLECTIVES_H

#include "weft/Plan/Plan.h"

#define GET_OP_CLASSES
#include "weft/Plan/PlanCollectiveOps.h.inc"

namespace weft::plan {

/// Attribute of a collective: the part of its est_us, in microseconds, in which
/// it uses a link that other collectives may use as well.
inline constexpr llvm::StringLiteral kLinkUsAttr = "link_us";
/// Attribute of a collective: the link of a cluster that it uses. Collectives
/// with the same text share the link. Without it, all collectives along an axis
/// share one.
inline constexpr llvm::StringLiteral kLinkAttr = "link";

/// Whether ranks take part in the command.
bool isCollective(mlir::Operation *command);

/// Whether a command is a gather or a reduction in a stream of its own, which
/// overlaps with computation.
bool isAsync(mlir::Operation *command);

} // namespace weft::plan

#endif // WEFT_PLAN_PLANCOLLECTIVES_H
