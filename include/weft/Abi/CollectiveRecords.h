//===- CollectiveRecords.h - Records of collective commands -----*- C++ -*-===//
//
// Records of the collective routines, in which all ranks of a group take part.
// Their kind is WEFT_EXTENSION: only programs for several ranks link them.
// Buffers are dense and in the rank's own memory.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_COLLECTIVERECORDS_H
#define WEFT_ABI_COLLECTIVERECORDS_H

#include "weft/Abi/Executable.h"

#include <string_view>

/// Every routine once: X(name, Record).
#define WEFT_COLLECTIVES(X)                                                    \
  X(all_gather, WeftAllGatherRecord)                                           \
  X(reduce_scatter, WeftReduceScatterRecord)                                   \
  X(own_slice, WeftOwnSliceRecord)                                             \
  X(rank, WeftRankRecord)                                                      \
  X(all_reduce, WeftAllReduceRecord)

/// The ranks that take part. Group 0 is all ranks of the run; group i is the
/// ranks that differ only along mesh axis i - 1. A collective on a stream other
/// than 0 overlaps with computation: commands after it may start before it
/// ends.
struct WeftRankGroup {
  int64_t group, ranks, stream;
};

/// Buffers: a shard of `elements`; then all shards in rank order.
struct WeftAllGatherRecord {
  struct WeftRankGroup among;
  int64_t dtype, elements;
};

/// Buffers: all shards; then this rank's shard of their mean, of `elements`.
/// Each element is divided by `pre` and rounded. The elements of ranks 0, 1,
/// ... are added in this order in f32 (f64 for f64). The sum is divided by
/// `post` and rounded. `native` 1: the devices' collective library adds, if
/// there is one.
struct WeftReduceScatterRecord {
  struct WeftRankGroup among;
  int64_t dtype, elements;
  double pre, post;
  int64_t native;
};

/// Buffers: all shards on this rank; then the shard of `elements` that it owns.
struct WeftOwnSliceRecord {
  struct WeftRankGroup among;
  int64_t dtype, elements;
};

/// Buffer: the index of this rank in the group, an i64.
struct WeftRankRecord {
  struct WeftRankGroup among;
};

/// How all_reduce combines one number of each rank. Part of the ABI.
enum WeftRankReduction {
  WEFT_RANK_SUM = 0, // f64, in the order of ranks
  WEFT_RANK_MAX = 1, // f64; NaN stays
  WEFT_RANK_OR = 2,  // i1
};

/// Followed by `count` WeftRankReduction. Buffers: `count` inputs, then `count`
/// results.
struct WeftAllReduceRecord {
  struct WeftRankGroup among;
  int64_t count;
};

#ifdef __cplusplus
namespace weft {
/// Whether a command is a collective, by its name.
inline bool isCollective(const WeftCommand &command) {
  static constexpr std::string_view names[] = {
#define WEFT_COLLECTIVE_NAME(name, Record) #name,
      WEFT_COLLECTIVES(WEFT_COLLECTIVE_NAME)
#undef WEFT_COLLECTIVE_NAME
  };
  if (command.kind != WEFT_EXTENSION)
    return false;
  for (std::string_view name : names)
    if (name == command.name)
      return true;
  return false;
}

/// The record of a reduction; null for another command.
inline const WeftReduceScatterRecord *
findReduction(const WeftCommand &command) {
  const bool isReduction =
      isCollective(command) &&
      command.name == std::string_view("reduce_scatter") && command.record &&
      command.recordBytes == int64_t(sizeof(WeftReduceScatterRecord));
  return isReduction
             ? static_cast<const WeftReduceScatterRecord *>(command.record)
             : nullptr;
}

/// The ranks of a collective, which are the start of each record; null for
/// another command.
inline const WeftRankGroup *findRankGroup(const WeftCommand &command) {
  if (!isCollective(command) || !command.record ||
      command.recordBytes < int64_t(sizeof(WeftRankGroup)))
    return nullptr;
  return static_cast<const WeftRankGroup *>(command.record);
}
} // namespace weft

extern "C" {
#endif

/// WEFT_RECORD and WEFT_WAIT of TransferRecords.h between stream 0, the thread
/// of the rank, and streams of collectives; the record is a WeftTransferRecord.
void weft_host_record(struct WeftContext *context,
                      const struct WeftCommand *command, void *const *buffers);
void weft_host_wait(struct WeftContext *context,
                    const struct WeftCommand *command, void *const *buffers);

#define WEFT_DECLARE_COLLECTIVE(name, Record)                                  \
  void weft_host_##name(struct WeftContext *context,                           \
                        const struct WeftCommand *command,                     \
                        void *const *buffers);
WEFT_COLLECTIVES(WEFT_DECLARE_COLLECTIVE)
#undef WEFT_DECLARE_COLLECTIVE

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_ABI_COLLECTIVERECORDS_H
