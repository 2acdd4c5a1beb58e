//===- CollectiveCounters.h - Cost of collectives on a rank -----*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_COLLECTIVECOUNTERS_H
#define WEFT_RUNTIME_COLLECTIVES_COLLECTIVECOUNTERS_H

#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Execute/Context.h"

namespace weft {

/// The cost so far of one kind of collective on this rank, summed over all
/// groups of ranks. It is zero after the rank has left them.
CollectiveCount costOf(WeftContext &context, Collective kind);
/// The cost of all kinds of collectives of programs. Its time is the time that
/// programs have waited.
CollectiveCount costOfPrograms(WeftContext &context);

/// "all_gather 12 calls, 3.4 MiB sent, 5.6 ms; ...", without unused kinds.
std::string costText(WeftContext &context);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_COLLECTIVECOUNTERS_H
