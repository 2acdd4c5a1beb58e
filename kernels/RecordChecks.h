//===- RecordChecks.h - What records of every target obey -------*- C++ -*-===//

#ifndef WEFT_KERNELS_RECORDCHECKS_H
#define WEFT_KERNELS_RECORDCHECKS_H

#include "Arguments.h"

namespace weft {

inline bool checkAttention(WeftContext &context, const WeftCommand &command,
                           const WeftAttentionRecord &a) {
  constexpr int64_t most = int64_t(1) << 30; // key numbers are 32 bit
  auto inRange = [&](const char *name, int64_t value) {
    return checkRange(context, command, name, value, 1, most);
  };
  if (!inRange("batch", a.batch) || !inRange("queries", a.queries) ||
      !inRange("keys", a.keys) || !inRange("heads", a.heads) ||
      !inRange("keyHeads", a.keyHeads) || !inRange("headSize", a.headSize))
    return false;
  if (a.heads % a.keyHeads != 0) {
    failCommand(context, command, kInternalError,
                "expects keyHeads that divides heads " +
                    std::to_string(a.heads) + ", but got " +
                    std::to_string(a.keyHeads));
    return false;
  }
  return checkFloatType(context, command, "q, k, v and out", a.dtype) &&
         checkProbability(context, command, "dropout", a.dropout);
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
  if (record.dtypeTable != WEFT_F32 && record.dtypeTable != record.dtypeOut) {
    failCommand(context, command, kInternalError,
                "expects dtable of dtype f32 (0) or that of dout, but got " +
                    std::to_string(record.dtypeTable));
    return false;
  }
  return checkBuffers(context, command,
                      3 + (record.accumulate == WEFT_ADD_IF_FLAG));
}

} // namespace weft

#endif // WEFT_KERNELS_RECORDCHECKS_H
