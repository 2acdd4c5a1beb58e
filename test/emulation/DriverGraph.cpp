//===- DriverGraph.cpp - Graphs of the emulated driver --------------------===//

#include "Driver.h"

#include <algorithm>

namespace weft::emulation {

static Handles<Graph> &graphs() {
  static auto *all = new Handles<Graph>;
  return *all;
}

static Handles<GraphExec> &executables() {
  static auto *all = new Handles<GraphExec>;
  return *all;
}

/// Whether everything in a capture happens before the end of its origin.
static bool isJoined(const Capture &capture) {
  std::vector<bool> seen(capture.graph.nodes.size());
  std::vector<size_t> left = capture.origin->lastNodes;
  while (!left.empty()) {
    size_t node = left.back();
    left.pop_back();
    if (seen[node])
      continue;
    seen[node] = true;
    const std::vector<size_t> &after = capture.graph.nodes[node].after;
    left.insert(left.end(), after.begin(), after.end());
  }
  return std::all_of(seen.begin(), seen.end(), [](bool one) { return one; });
}

/// All streams leave a capture.
static void closeCapture(const std::shared_ptr<Capture> &capture) {
  capture->isClosed = true;
  countCapture(-1);
  for (Stream *stream : streams().all())
    if (stream->capture == capture) {
      stream->capture = nullptr;
      stream->lastNodes.clear();
    }
}

/// Whether the program has not given back an event of a node.
static bool hasEvents(const Graph &graph) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const GraphNode &node) {
                       return (!node.records || events().has(node.records)) &&
                              (!node.waits || events().has(node.waits));
                     });
}

/// A node waits for the record of its event that was launched last before the
/// graph was.
static OperationRef addNode(const GraphNode &node,
                            std::vector<OperationRef> after) {
  if (node.waits && node.waits->operation)
    after.push_back(node.waits->operation);
  if (node.waits)
    return queue().add([] {}, after);
  if (!node.records)
    return queue().add(node.prepare(), after);
  return queue().add(recordTime(*node.records), after);
}

/// Adds the nodes, which wait for `first`; gives the last ones.
static std::vector<OperationRef>
addNodes(const Graph &graph, const std::vector<OperationRef> &first) {
  std::vector<OperationRef> added, ends;
  std::vector<bool> hasNext(graph.nodes.size());
  for (const GraphNode &node : graph.nodes) {
    std::vector<OperationRef> after;
    for (size_t other : node.after) {
      after.push_back(added[other]);
      hasNext[other] = true;
    }
    added.push_back(addNode(node, node.after.empty() ? first : after));
  }
  for (size_t i = 0; i < added.size(); ++i)
    if (Event *recorded = graph.nodes[i].records) {
      recorded->operation = added[i];
      recorded->capture = nullptr;
    }
  for (size_t i = 0; i < added.size(); ++i)
    if (!hasNext[i])
      ends.push_back(added[i]);
  return ends;
}

} // namespace weft::emulation

using namespace weft::emulation;

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  WEFT_ENTER("cuStreamBeginCapture_v2", Needs::Context);
  if (!streams().has(handle)) // the legacy stream cannot
    return !handle || handle == CU_STREAM_LEGACY
               ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
               : CUDA_ERROR_INVALID_HANDLE;
  auto *stream = reinterpret_cast<Stream *>(handle);
  if (stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = std::make_shared<Capture>();
  countCapture(1);
  stream->capture->origin = stream;
  stream->lastNodes.clear();
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graphHandle) {
  WEFT_ENTER("cuStreamEndCapture", Needs::Context);
  if (!streams().has(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  auto *stream = reinterpret_cast<Stream *>(handle);
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream)
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  bool joined = isJoined(*capture);
  closeCapture(capture);
  *graphHandle = nullptr;
  if (capture->isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!joined)
    return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  Graph *graph = graphs().make();
  *graph = std::move(capture->graph);
  *graphHandle = reinterpret_cast<CUgraph>(graph);
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  WEFT_ENTER("cuStreamIsCapturing", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream || !status)
    return CUDA_ERROR_INVALID_HANDLE;
  *status = !stream->capture             ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->isInvalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                         : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

/// The real one would ignore the priorities of nodes without the flag.
static bool losesPriorities(const Graph &graph, unsigned long long flags) {
  return !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) &&
         std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const GraphNode &node) { return node.priority != 0; });
}

CUresult cuGraphInstantiate(CUgraphExec *handle, CUgraph graph,
                            unsigned long long flags) {
  WEFT_ENTER("cuGraphInstantiateWithFlags", Needs::Context);
  if (!graphs().has(graph))
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags & ~uint64_t(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))
    return CUDA_ERROR_INVALID_VALUE;
  if (losesPriorities(*reinterpret_cast<Graph *>(graph), flags))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "the graph has nodes with priorities, but no "
                  "CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY");
  GraphExec *executable = executables().make();
  executable->graph = *reinterpret_cast<Graph *>(graph);
  *handle = reinterpret_cast<CUgraphExec>(executable);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  WEFT_ENTER("cuGraphLaunch", Needs::Context);
  Stream *stream = findStream(streamHandle);
  if (!stream || !executables().has(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "a graph inside of a graph");
  auto *executable = reinterpret_cast<GraphExec *>(handle);
  if (!hasEvents(executable->graph))
    return refuse(CUDA_ERROR_INVALID_HANDLE, "an event of a node is gone");
  OperationRef start = addOperation(*stream, [] {});
  if (executable->last) // two launches of one do not overlap
    start = queue().add([] {}, {start, executable->last});
  std::vector<OperationRef> ends = addNodes(executable->graph, {start});
  ends.push_back(start);
  executable->last = queue().add([] {}, ends);
  stream->last = {executable->last};
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  WEFT_ENTER("cuGraphExecDestroy", Needs::Context);
  if (!executables().has(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  executables().remove(reinterpret_cast<GraphExec *>(handle));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
  WEFT_ENTER("cuGraphDestroy", Needs::Context);
  if (!graphs().has(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  graphs().remove(reinterpret_cast<Graph *>(handle));
  return CUDA_SUCCESS;
}
