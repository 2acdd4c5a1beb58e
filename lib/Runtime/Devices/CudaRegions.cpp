//===- CudaRegions.cpp - Commands that become one CUDA graph --------------===//

#include "weft/Runtime/Devices/CudaRegions.h"

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Execute/Context.h"

#include <algorithm>

#ifdef WEFT_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

using namespace weft;

int64_t weft::streamOf(const WeftCommand &command) {
  if (const WeftTransferRecord *transfer = findTransfer(command))
    return transfer->stream;
  const WeftRankGroup *among = findRankGroup(command);
  return among ? among->stream : 0;
}

CudaRegions::CudaRegions(const WeftExecutable &executable) {
  findCopyStreams(executable);
  for (const WeftProgram &program : programsOf(executable))
    split(program);
  findUses(executable);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void CudaRegions::findCopyStreams(const WeftExecutable &executable) {
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program)) {
      if (command.kind == WEFT_UPLOAD || command.kind == WEFT_READBACK)
        copyStreams.insert(streamOf(command));
    }
}

static bool isEvent(const WeftCommand &command) {
  return command.kind == WEFT_RECORD || command.kind == WEFT_WAIT;
}

bool CudaRegions::isOutside(const WeftCommand &command) const {
  return copyStreams.count(streamOf(command)) != 0;
}

/// Waits at the begin and records at the end stay outside of a graph where they
/// can: the stream that the graph is launched on orders it by them.
static CudaRegion trimmed(const WeftProgram &program, CudaRegion region) {
  auto isOnLaunchStream = [&](int32_t i, int32_t kind) {
    const WeftCommand &command = program.commands[i];
    return command.kind == kind && streamOf(command) == 0;
  };
  while (region.begin < region.end && isOnLaunchStream(region.begin, WEFT_WAIT))
    ++region.begin;
  while (region.begin < region.end &&
         isOnLaunchStream(region.end - 1, WEFT_RECORD))
    --region.end;
  return region;
}

void CudaRegions::addRegion(const WeftProgram &program, CudaRegion region) {
  if (region.begin == region.end)
    return;
  std::set<int64_t> streams;
  bool hasWork = false;
  for (int32_t i = region.begin; i < region.end; ++i) {
    streams.insert(streamOf(program.commands[i]));
    hasWork = hasWork || !isEvent(program.commands[i]);
  }
  region.isRecorded = region.isRecorded && hasWork;
  streams.erase(0);
  region.sideStreams.assign(streams.begin(), streams.end());
  regions[program.commands].push_back(std::move(region));
}

void CudaRegions::split(const WeftProgram &program) {
  regions[program.commands] = {};
  for (int32_t begin = 0; begin < program.numCommands;) {
    const bool isCopy = isOutside(program.commands[begin]);
    int32_t end = begin + 1;
    while (end < program.numCommands &&
           isOutside(program.commands[end]) == isCopy)
      ++end;
    CudaRegion graph = {begin, end, !isCopy, {}};
    if (!isCopy)
      graph = trimmed(program, graph);
    addRegion(program, {begin, graph.begin, false, {}});
    addRegion(program, graph);
    addRegion(program, {graph.end, end, false, {}});
    begin = end;
  }
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

static int64_t eventOf(const WeftCommand &command) {
  const WeftTransferRecord *record = findTransfer(command);
  return record ? record->event : -1;
}

/// A wait is an edge from the last record of the event before it in the region.
void CudaRegions::findEdges(const WeftProgram &program,
                            const CudaRegion &region) {
  std::unordered_map<int64_t, const WeftCommand *> last;
  for (int32_t i = region.begin; i < region.end; ++i) {
    const WeftCommand &command = program.commands[i];
    if (!isEvent(command))
      continue;
    const int64_t event = eventOf(command);
    auto source = last.find(event);
    if (command.kind == WEFT_RECORD) {
      last[event] = &command;
      uses[&command];
    } else if (region.isRecorded && source != last.end()) {
      uses[source->second].isEdge = uses[&command].isEdge = true;
    } else {
      uses[&command].isExternal = true;
      awaitedOutside.insert(event);
    }
  }
}

/// A command outside sees the last record of an event in a region alone.
void CudaRegions::findUses(const WeftExecutable &executable) {
  for (const WeftProgram &program : programsOf(executable))
    for (const CudaRegion &region : of(program))
      findEdges(program, region);
  for (const WeftProgram &program : programsOf(executable))
    for (const CudaRegion &region : of(program)) {
      std::set<int64_t> seen;
      for (int32_t i = region.end; i-- > region.begin;) {
        const WeftCommand &command = program.commands[i];
        const int64_t event = eventOf(command);
        if (command.kind == WEFT_RECORD && seen.insert(event).second)
          uses[&command].isExternal = awaitedOutside.count(event) != 0;
      }
    }
}

//===----------------------------------------------------------------------===//
// Ranges for profilers
//===----------------------------------------------------------------------===//

#ifdef WEFT_NVTX

CudaRanges::CudaRanges() : domain(nvtxDomainCreateA("weft")) {}

CudaRanges::~CudaRanges() {
  if (domain)
    nvtxDomainDestroy(static_cast<nvtxDomainHandle_t>(domain));
}

void CudaRanges::push(const std::string &text) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text.c_str();
  (void)nvtxDomainRangePushEx(static_cast<nvtxDomainHandle_t>(domain), &event);
}

void CudaRanges::pop() {
  (void)nvtxDomainRangePop(static_cast<nvtxDomainHandle_t>(domain));
}

#else

CudaRanges::CudaRanges() = default;
CudaRanges::~CudaRanges() = default;
void CudaRanges::push(const std::string &) {}
void CudaRanges::pop() {}

#endif

/// Whether a scope is `outer` or one within it.
static bool isWithin(const std::string &scope, const std::string &outer) {
  return scope.compare(0, outer.size(), outer) == 0 &&
         (scope.size() == outer.size() || scope[outer.size()] == '.');
}

void CudaRanges::enter(const char *program) {
  if (domain)
    push(program);
}

void CudaRanges::moveTo(const char *scope) {
  if (!domain)
    return;
  const std::string wanted = scope ? scope : "";
  while (!scopes.empty() && !isWithin(wanted, scopes.back())) {
    pop();
    scopes.pop_back();
  }
  size_t end = scopes.empty() ? 0 : scopes.back().size();
  while (end < wanted.size()) {
    end = std::min(wanted.find('.', end + 1), wanted.size());
    scopes.push_back(wanted.substr(0, end));
    push(scopes.back());
  }
}

void CudaRanges::leave() {
  if (!domain)
    return;
  moveTo(nullptr);
  pop();
}
