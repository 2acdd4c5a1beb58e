//===- RecordChecks.h - Checks of records for every target ------*- C++ -*-===//

#ifndef WEFT_KERNELS_RECORDCHECKS_H
#define WEFT_KERNELS_RECORDCHECKS_H

#include "Arguments.h"

#include <cfloat>

namespace weft {

//===- A copy as nested loops ---------------------------------------------===//

/// Dimensions of a copy at most.
constexpr int kMaxRank = 8;

/// A copy as loops, outermost first; always at least one.
struct CopyLoops {
  WeftCopyDim dims[kMaxRank];
  int rank = 0;
};

/// Adds an innermost loop. It is merged into the enclosing loop if both sides
/// are contiguous across the two.
inline void addLoop(CopyLoops &loops, const WeftCopyDim &dim) {
  WeftCopyDim *outer = loops.rank ? &loops.dims[loops.rank - 1] : nullptr;
  if (outer && outer->from == dim.size * dim.from &&
      outer->to == dim.size * dim.to)
    *outer = {outer->size * dim.size, dim.from, dim.to};
  else
    loops.dims[loops.rank++] = dim;
}

/// Drops dimensions of one element and merges neighbours that are contiguous on
/// both sides.
inline CopyLoops readLoops(const WeftCopyRecord &record) {
  CopyLoops loops;
  for (int64_t i = 0; i < record.count; ++i) {
    WeftCopyDim dim = entriesOf<WeftCopyDim>(record)[i];
    if (dim.size == 1)
      continue;
    addLoop(loops, dim);
  }
  if (loops.rank == 0)
    loops.dims[loops.rank++] = {1, 1, 1};
  return loops;
}

inline bool checkCopy(WeftContext &context, const WeftCommand &command,
                      const WeftCopyRecord &record) {
  if (!checkBuffers(context, command, 2) ||
      !checkRange(context, command, "rank", record.count, 0, kMaxRank))
    return false;
  for (int64_t i = 0; i < record.count; ++i)
    if (!checkRange(context, command, "dimension",
                    entriesOf<WeftCopyDim>(record)[i].size, 1))
      return false;
  return true;
}

inline void failElementBytes(WeftContext &context, const WeftCommand &command,
                             const WeftCopyRecord &record) {
  failCommand(context, command,
              "expects 1, 2, 4 or 8 bytes per element, but got ",
              record.elementBytes);
}

inline void failFillType(WeftContext &context, const WeftCommand &command,
                         int64_t dtype) {
  failCommand(context, command,
              "expects dtype f32, f64, f16, bf16, i1, i32 or i64, but got ",
              dtype);
}

//===- Attention and embeddings -------------------------------------------===//

/// Masks and softcap. Ids and windows on both sides belong to one sequence.
inline bool checkVariant(WeftContext &context, const WeftCommand &command,
                         const WeftAttentionRecord &a,
                         const WeftAttentionVariant &variant) {
  if (!checkRange(context, command, "window", variant.window, 0) ||
      !checkRange(context, command, "hasSegments", variant.hasSegments, 0, 1))
    return false;
  if (!(variant.softcap >= 0.0 && variant.softcap <= FLT_MAX))
    return failCommand(context, command,
                       "expects a softcap of at least 0, but got ",
                       variant.softcap);
  if (a.queries != a.keys &&
      (variant.hasSegments || (variant.window && !a.causal)))
    return failCommand(context, command, "expects as many keys as queries ",
                       a.queries, ", but got ", a.keys);
  return true;
}

inline bool checkAttention(WeftContext &context, const WeftCommand &command,
                           const WeftAttentionRecord &a,
                           const WeftAttentionVariant &variant) {
  constexpr int64_t most = int64_t(1) << 30; // key numbers are 32 bit
  auto inRange = [&](const char *name, int64_t value) {
    return checkRange(context, command, name, value, 1, most);
  };
  if (!inRange("batch", a.batch) || !inRange("queries", a.queries) ||
      !inRange("keys", a.keys) || !inRange("heads", a.heads) ||
      !inRange("keyHeads", a.keyHeads) || !inRange("headSize", a.headSize))
    return false;
  if (a.heads % a.keyHeads != 0)
    return failCommand(context, command, "expects keyHeads that divides heads ",
                       a.heads, ", but got ", a.keyHeads);
  return checkFloatType(context, command, "q, k, v and out", a.dtype) &&
         checkProbability(context, command, "dropout", a.dropout) &&
         checkRange(context, command, "hasBits", a.hasBits, 0,
                    a.dropout > 0.0) &&
         checkVariant(context, command, a, variant);
}

/// Sizes of either record of an embedding.
template <typename Record>
bool checkTable(WeftContext &context, const WeftCommand &command,
                const Record &record) {
  return checkRange(context, command, "count", record.count, 1) &&
         checkRange(context, command, "rows", record.rows, 1) &&
         checkRange(context, command, "columns", record.columns, 1) &&
         checkIndexType(context, command, record.dtypeIds);
}

inline bool checkEmbedding(WeftContext &context, const WeftCommand &command,
                           const WeftEmbeddingRecord &record) {
  return checkBuffers(context, command, 3) &&
         checkTable(context, command, record) &&
         checkFloatType(context, command, "table", record.dtype);
}

inline bool checkEmbeddingGrad(WeftContext &context, const WeftCommand &command,
                               const WeftEmbeddingGradRecord &record) {
  if (!checkBuffers(context, command, 3) ||
      !checkTable(context, command, record) ||
      !checkRange(context, command, "accumulate", record.accumulate, 0, 2) ||
      !checkFloatType(context, command, "dout", record.dtypeOut))
    return false;
  if (record.dtypeTable != WEFT_F32 && record.dtypeTable != record.dtypeOut)
    return failCommand(
        context, command,
        "expects dtable of dtype f32 (0) or the dtype of dout, but got ",
        record.dtypeTable);
  return checkBuffers(context, command,
                      3 + (record.accumulate == WEFT_ADD_IF_FLAG));
}

} // namespace weft

#endif // WEFT_KERNELS_RECORDCHECKS_H
