//===- RankGroups.h - The ranks that a context works with -------*- C++ -*-===//
//
// What the collectives of programs move their bytes over. It is part of the
// context of a rank, and only programs for several ranks ask for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H
#define WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H

#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Execute/Context.h"

namespace weft {

/// Gives the context its connection with all ranks of the run.
void joinRanks(WeftContext &context, std::unique_ptr<Transport> all);

/// The connection of a group (Execute/Collectives.h), or null: the rank has
/// left, or the run has no such group.
Communicator *findRanks(WeftContext &context, int64_t group);

/// Ranks that wait for this one in a collective learn that it will not come.
void leaveRanks(WeftContext &context);

/// Whom a collective that failed has waited for in vain.
Absence absenceOf(WeftContext &context);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H
