//===- RankGroups.h - The ranks that a context works with -------*- C++ -*-===//
//
// What the collectives of programs move their bytes over. It is part of the
// context of a rank, and only programs for several ranks ask for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H
#define WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H

#include "weft/Runtime/Collectives/CommandStreams.h"
#include "weft/Runtime/Execute/RankMeetings.h"

namespace weft {

/// The connections of a rank: with all ranks of the run and, if the mesh has
/// several axes, with those that differ along each of them alone.
using RankConnections = std::vector<std::unique_ptr<Transport>>;

/// The first of the ranks that differ from a rank along an axis alone; `mesh`
/// has the ranks of each axis, the last one fastest.
int firstAlong(const std::vector<int> &mesh, size_t axis, int rank);

/// The connections of all ranks of a mesh as threads, by rank.
std::vector<RankConnections> connectThreads(const std::vector<int> &mesh);
/// Adds those along the axes of a mesh to `all`. All ranks call.
Expected<RankConnections> connectAlong(const std::vector<int> &mesh,
                                       std::unique_ptr<Transport> all);

/// The same for each stream of collectives (CommandStreams.h).
using StreamConnections = std::map<int64_t, RankConnections>;

/// Gives the context its connections, and streams that have their own.
void joinRanks(WeftContext &context, RankConnections connections,
               StreamConnections streams = {});

/// Meetings over the connections of a context, which outlives them.
std::shared_ptr<RankMeetings> meetingsOf(WeftContext &context);

/// The connection of a group (Abi/CollectiveRecords.h) in a stream, or null:
/// the rank has left, or the run has no such group.
Communicator *findRanks(WeftContext &context, int64_t group,
                        int64_t stream = 0);
/// Those of a stream, each once, and those of all streams.
std::vector<Communicator *> ranksOf(WeftContext &context, int64_t stream);
std::vector<Communicator *> allRanks(WeftContext &context);
/// The streams; null: the rank has left, or programs have none.
CommandStreams *streamsOf(WeftContext &context);

/// Ranks that wait for this one in a collective learn that it will not come.
void leaveRanks(WeftContext &context);

/// Whom a collective that failed has waited for in vain. Streams run nothing
/// any more.
Absence absenceOf(WeftContext &context);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H
