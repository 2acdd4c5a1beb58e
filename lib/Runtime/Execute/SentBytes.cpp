//===- SentBytes.cpp - What the collectives of a program send -------------===//

#include "weft/Runtime/Execute/SentBytes.h"

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Runtime/Execute/DTypes.h"

using namespace weft;

/// All numbers travel as f64.
static constexpr int64_t kNumberBytes = 8;

/// Of the slice that a rank sends to each other rank.
static int64_t pieceBytes(const WeftCommand &command) {
  const std::string_view name = command.name;
  if (name == "all_gather") {
    const auto &record =
        *static_cast<const WeftAllGatherRecord *>(command.record);
    return record.elements * dtypeBytes(int32_t(record.dtype));
  }
  if (name == "reduce_scatter") {
    const auto &record =
        *static_cast<const WeftReduceScatterRecord *>(command.record);
    return record.elements * dtypeBytes(int32_t(record.dtype));
  }
  if (name == "all_reduce")
    return kNumberBytes *
           static_cast<const WeftAllReduceRecord *>(command.record)->count;
  return 0; // own_slice and rank send nothing
}

int64_t weft::sentBytes(const WeftProgram &program) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < program.numCommands; ++i)
    if (const WeftRankGroup *among = findRankGroup(program.commands[i]))
      bytes += (among->ranks - 1) * pieceBytes(program.commands[i]);
  return bytes;
}
