//===- CudaRegions.cpp - Commands that become one CUDA graph --------------===//

#include "weft/Runtime/Devices/CudaRegions.h"

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/TransferRecords.h"

using namespace weft;

int64_t weft::streamOf(const WeftCommand &command) {
  if (const WeftTransferRecord *transfer = findTransfer(command))
    return transfer->stream;
  const WeftRankGroup *among = findRankGroup(command);
  return among ? among->stream : 0;
}

CudaRegions::CudaRegions(const WeftExecutable &executable) {
  findCopyStreams(executable);
  for (int32_t p = 0; p < executable.numPrograms; ++p)
    split(executable.programs[p]);
  findUses(executable);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void CudaRegions::findCopyStreams(const WeftExecutable &executable) {
  for (int32_t p = 0; p < executable.numPrograms; ++p) {
    const WeftProgram &program = executable.programs[p];
    for (int32_t i = 0; i < program.numCommands; ++i) {
      const WeftCommand &command = program.commands[i];
      if (command.kind == WEFT_UPLOAD || command.kind == WEFT_READBACK)
        copyStreams.insert(streamOf(command));
    }
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
  for (int32_t p = 0; p < executable.numPrograms; ++p)
    for (const CudaRegion &region : of(executable.programs[p]))
      findEdges(executable.programs[p], region);
  for (int32_t p = 0; p < executable.numPrograms; ++p) {
    const WeftProgram &program = executable.programs[p];
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
}
