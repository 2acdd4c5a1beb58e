//===- Culprits.h - Whose value was not finite first ------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_CULPRITS_H
#define WEFT_RUNTIME_RUN_CULPRITS_H

#include "weft/Runtime/Collectives/Agree.h"
#include "weft/Runtime/Reports/NanHunt.h"

namespace weft {

/// What one rank tells the others of its culprit.
std::string culpritText(const Culprit &culprit);

/// The sentence about the culprit of all ranks that came before those of the
/// others, with its rank where there are several; "": there is none. `texts`
/// are the culprits of ranks, in their order.
std::string firstCulprit(const std::vector<std::string> &texts);

/// The same of the votes of all ranks, which call after a step that did not end
/// well; the own culprit alone where a rank has left.
std::string findCulprit(Agreement &agreement, int64_t step, const Culprit &own);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_CULPRITS_H
