//===- RankGroups.h - Connections of a context to other ranks ---*- C++ -*-===//
//
// Collectives of programs use these connections. They are part of the context
// of a rank, and only programs for several ranks use them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H
#define WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H

#include "weft/Abi/Executable.h"
#include "weft/Base/Results.h"
#include "weft/Runtime/Collectives/CommandStreams.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/RankMeetings.h"

#include <string>
#include <vector>

namespace weft {

/// The connections of a rank: first all ranks of the run. If the mesh has
/// several axes, one for each axis follows, with the ranks that differ along
/// this axis alone.
using RankConnections = std::vector<std::unique_ptr<Transport>>;

/// The first of the ranks that differ from `rank` along an axis alone. `mesh`
/// has the number of ranks of each axis; the last axis is the fastest.
int firstAlong(const std::vector<int> &mesh, size_t axis, int rank);

/// The connections of all ranks of a mesh as threads, by rank.
std::vector<RankConnections> connectThreads(const std::vector<int> &mesh);
/// Adds the connections along the axes of a mesh to `all`. All ranks call.
Expected<RankConnections> connectAlong(const std::vector<int> &mesh,
                                       std::unique_ptr<Transport> all);

/// The connections of each stream of collectives (CommandStreams.h).
using StreamConnections = std::map<int64_t, RankConnections>;

/// Sets the connections of the context, and creates its streams with theirs.
void joinRanks(WeftContext &context, RankConnections connections,
               StreamConnections streams = {});

/// Meetings over the connections of a context, which outlives them.
std::shared_ptr<RankMeetings> meetingsOf(WeftContext &context);

/// The connection of a group (Abi/CollectiveRecords.h) in a stream. Null if the
/// rank has left or the run has no such group.
Communicator *findRanks(WeftContext &context, int64_t group,
                        int64_t stream = 0);
/// The connections of a stream, each once.
std::vector<Communicator *> ranksOf(WeftContext &context, int64_t stream);
/// The connections of all streams.
std::vector<Communicator *> allRanks(WeftContext &context);
/// The streams; null if the rank has left or programs have none.
CommandStreams *streamsOf(WeftContext &context);

/// Leaves the run: ranks that wait for this one in a collective fail at once.
void leaveRanks(WeftContext &context);

/// The ranks that a failed collective has waited for. Stops all streams.
Absence absenceOf(WeftContext &context);

//===- Costs of collectives -----------------------------------------------===//

/// The cost so far of one kind of collective on this rank, summed over all
/// groups of ranks. It is zero after the rank has left them.
CollectiveCount costOf(WeftContext &context, Collective kind);
/// The cost of all kinds of collectives of programs. Its time is the time that
/// programs have waited.
CollectiveCount costOfPrograms(WeftContext &context);

/// "all_gather 12 calls, 3.4 MiB sent, 5.6 ms; ...", without unused kinds.
std::string costText(WeftContext &context);

/// Bytes that a rank sends to others in one run of a program, by the records of
/// its collectives. Each slice or number counts once for every other
/// rank, as in CPU programs.
int64_t sentBytes(const WeftProgram &program);

//===- Numbers of all ranks -----------------------------------------------===//

// Numbers that a run gathers outside its programs. Results are bitwise equal on
// all ranks: sums are taken in rank order.

/// Numbers of all ranks, by rank. All ranks have the same count.
using RankNumbers = std::vector<std::vector<double>>;

/// Gathers `own` of each rank. Exit 7 on a rank that has left the run.
Expected<RankNumbers> gatherNumbers(WeftContext &context,
                                    const std::vector<double> &own,
                                    const std::string &title);

/// The sum over all ranks of number `i`.
double sumOverRanks(const RankNumbers &all, size_t i);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_RANKGROUPS_H
