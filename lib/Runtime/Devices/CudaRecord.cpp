//===- CudaRecord.cpp - Regions of commands as CUDA graphs ----------------===//

#include "weft/Runtime/Devices/CudaDevice.h"

#include <cstring>

using namespace weft;

//===----------------------------------------------------------------------===//
// Ranks of one process
//===----------------------------------------------------------------------===//
//
// Ranks wait for each other inside a region, so their graphs are one graph: the
// first rank begins and launches it, and the streams of all ranks join it.

/// Rank threads add to one graph while they capture, and graphs are not
/// synchronized: they take turns, but for the times in which they meet.
std::mutex &CudaDevice::captureMutex() {
  static std::mutex mutex;
  return mutex;
}

bool CudaDevice::isLeader() const { return !hasPeers() || options.rank == 0; }

Status CudaDevice::meetRanks(const char *title) {
  if (!hasPeers())
    return Status::success();
  auto all = meet(0, options.rank, title);
  return all ? Status::success() : Status(all.takeError());
}

/// Stream 0 of each rank waits for stream 0 of the leader.
Status CudaDevice::forkToRanks(const char *title) {
  if (!hasPeers())
    return Status::success();
  if (isLeader())
    if (Status s = cuda.cuEventRecord(joined.get(), stream()); !s)
      return s;
  auto all = meet(0, joined.get(), title);
  if (!all)
    return all.takeError();
  if (isLeader())
    return Status::success();
  return cuda.cuStreamWaitEvent(stream(), all->front(), 0u);
}

/// Stream 0 of the leader waits for stream 0 of each rank.
Status CudaDevice::joinFromRanks(const char *title) {
  if (!hasPeers())
    return Status::success();
  if (!isLeader())
    if (Status s = cuda.cuEventRecord(joined.get(), stream()); !s)
      return s;
  auto all = meet(0, joined.get(), title);
  if (!all)
    return all.takeError();
  if (!isLeader())
    return Status::success();
  return waitForAll({all->begin() + 1, all->end()});
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

/// An edge of the graph, a node that records or waits, or both.
Status CudaDevice::captureEvent(const WeftCommand &command,
                                const WeftTransferRecord &record) {
  const EventPair &pair = events[size_t(record.event)];
  const CudaEventUse use = regions.useOf(command);
  if (command.kind == WEFT_WAIT)
    return use.isEdge
               ? cuda.cuStreamWaitEvent(stream(), pair.edge.get(), 0u)
               : cuda.cuStreamWaitEvent(stream(), pair.event.get(),
                                        unsigned(CU_EVENT_WAIT_EXTERNAL));
  if (use.isEdge)
    if (Status s = cuda.cuEventRecord(pair.edge.get(), stream()); !s)
      return s;
  if (!use.isExternal)
    return Status::success();
  return cuda.cuEventRecordWithFlags(pair.event.get(), stream(),
                                     unsigned(CU_EVENT_RECORD_EXTERNAL));
}

/// Side streams wait for stream 0. While stream 0 is captured, they join its
/// capture.
Status CudaDevice::forkTo(const std::vector<int64_t> &sideStreams) {
  if (sideStreams.empty())
    return Status::success();
  if (Status s = cuda.cuEventRecord(fork.get(), stream()); !s)
    return s;
  for (int64_t side : sideStreams)
    if (Status s =
            cuda.cuStreamWaitEvent(streams[size_t(side)].get(), fork.get(), 0u);
        !s)
      return s;
  return Status::success();
}

/// Stream 0 waits for the side streams.
Status CudaDevice::joinFrom(const std::vector<int64_t> &sideStreams) {
  for (int64_t side : sideStreams) {
    const CUevent join = joins[size_t(side)].get();
    if (Status s = cuda.cuEventRecord(join, streams[size_t(side)].get()); !s)
      return s;
    if (Status s = cuda.cuStreamWaitEvent(stream(), join, 0u); !s)
      return s;
  }
  return Status::success();
}

Status CudaDevice::capture(WeftContext &context, const Commands &commands,
                           const CudaRegion &region) {
  if (Status s = forkTo(region.sideStreams); !s)
    return s;
  captures = true;
  Status launched = launchAll(context, commands);
  captures = false;
  return launched ? joinFrom(region.sideStreams) : std::move(launched);
}

/// Instantiates what stream 0 has captured.
Status CudaDevice::endCapture(Status captured, Recording &recording) {
  CUgraph graph = nullptr;
  Status ended = cuda.cuStreamEndCapture(stream(), &graph);
  CudaGraph owned;
  if (graph)
    owned = CudaGraph(cuda.driver(), graph);
  if (!captured)
    return captured;
  if (!ended)
    return ended;
  CUgraphExec exec = nullptr;
  // Nodes have the priorities of the streams that they were captured in.
  // Without the flag all have the priority of the stream of the launch.
  const unsigned long long flags =
      hasUrgentStreams ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0;
  if (Status s = cuda.cuGraphInstantiateWithFlags(&exec, graph, flags); !s)
    return s;
  recording.graph = CudaGraphExec(cuda.driver(), exec);
  return Status::success();
}

Status CudaDevice::record(WeftContext &context, const Commands &commands,
                          const CudaRegion &region, Recording &recording) {
  // A capture forbids what ranks do before they come here: they allocate.
  if (Status s = meetRanks("a graph to record"); !s)
    return s;
  if (ranks)
    ranks->forgetOrder();
  if (isLeader())
    if (Status s = cuda.cuStreamBeginCapture_v2(
            stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        !s)
      return s;
  isInPeersCapture = !isLeader();
  Status captured = forkToRanks("the begin of a graph");
  if (captured)
    captured = capture(context, commands, region);
  if (captured)
    captured = joinFromRanks("the end of a graph");
  if (isLeader())
    captured = endCapture(std::move(captured), recording);
  if (ranks)
    ranks->forgetOrder();
  if (!captured)
    return captured;
  // Until the leader has ended the capture, streams of all ranks are in it.
  if (Status s = meetRanks("a recorded graph"); !s)
    return s;
  isInPeersCapture = false;
  recording.isRecorded = true;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The recording whose flags equal the inputs of this run, or null.
CudaDevice::Recording *CudaDevice::findRecording(const Commands &commands) {
  for (Recording &recording :
       recordings[&commands.program.commands[commands.begin]]) {
    bool isSame = true;
    for (const CudaFlag &flag : recording.flags)
      isSame = isSame && std::memcmp(ports->inputAt(flag.offset), &flag.value,
                                     sizeof flag.value) == 0;
    if (isSame)
      return &recording;
  }
  return nullptr;
}

/// Commands that ran or will run without a graph keep their order with it: the
/// graph is one operation of stream 0 and of its side streams, of all ranks.
Status CudaDevice::launchGraph(const Recording &recording,
                               const CudaRegion &region) {
  if (Status s = joinFrom(region.sideStreams); !s)
    return s;
  if (Status s = joinFromRanks("the launch of a graph"); !s)
    return s;
  if (isLeader())
    if (Status s = cuda.cuGraphLaunch(recording.graph.get(), stream()); !s)
      return s;
  if (Status s = forkToRanks("a launched graph"); !s)
    return s;
  return forkTo(region.sideStreams);
}

/// Routines make their lasting state in the first run. The second run with the
/// same flags is recorded.
Status CudaDevice::launchRegion(WeftContext &context, const Commands &commands,
                                const CudaRegion &region) {
  flags.clear();
  if (!options.graphs || !region.isRecorded)
    return launchAll(context, commands);
  Recording *recording = findRecording(commands);
  if (!recording) {
    if (Status s = launchAll(context, commands); !s)
      return s;
    recordings[&commands.program.commands[commands.begin]].push_back(
        {flags, false, {}});
    return Status::success();
  }
  if (!recording->isRecorded)
    if (Status s = record(context, commands, region, *recording); !s)
      return s;
  return launchGraph(*recording, region);
}
