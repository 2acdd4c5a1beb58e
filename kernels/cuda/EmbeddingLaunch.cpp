//===- EmbeddingLaunch.cpp - weft_cuda_embedding and its gradient ---------===//

#include "KernelArguments.h"
#include "Launching.h"
#include "RecordChecks.h"
#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Abi/CudaWorkspaces.h"

namespace weft::cuda {
namespace {

/// Where the pieces of the workspace lie.
struct GradWorkspace {
  uint64_t *keys, *otherKeys;
  int32_t *begins;

  GradWorkspace(const WeftEmbeddingGradRecord &record, char *memory)
      : keys(reinterpret_cast<uint64_t *>(memory)),
        otherKeys(keys + record.count),
        begins(reinterpret_cast<int32_t *>(otherKeys + record.count)) {}
};

/// Positions sorted by id, and where the rows' begin.
void sortPositions(WeftContext &context, const WeftCommand &command,
                   const WeftEmbeddingGradRecord &record, const void *ids,
                   GradWorkspace &work) {
  int64_t count = record.count;
  launch(context, command, "weft_embedding_sort", countPieces(count, kSortRun),
         kSortThreads, kSortRun * sizeof(uint64_t),
         SortArguments{ids, work.keys, count, record.rows,
                       record.dtypeIds == WEFT_I64});
  for (int64_t run = kSortRun; run < count; run *= kMergeRuns) {
    launch(context, command, "weft_embedding_merge",
           countPieces(count, kSortThreads), kSortThreads, 0,
           MergeArguments{work.keys, work.otherKeys, count, run});
    std::swap(work.keys, work.otherKeys);
  }
  launch(context, command, "weft_embedding_bounds",
         countPieces(record.rows + 1, kSortThreads), kSortThreads, 0,
         BoundsArguments{work.keys, work.begins, count, record.rows});
}

std::string gradKernel(const WeftEmbeddingGradRecord &record) {
  std::string name = "weft_embedding_grad_" + typeName(record.dtypeOut);
  bool widens = record.dtypeOut != WEFT_F32 && record.dtypeTable == WEFT_F32;
  return widens ? name + "_f32" : name;
}

void runGrad(WeftContext &context, const WeftCommand &command,
             const WeftEmbeddingGradRecord &record, void *const *buffers,
             char *memory) {
  GradWorkspace work(record, memory);
  sortPositions(context, command, record, buffers[1], work);
  EmbeddingGradArguments a = {};
  a.dout = buffers[0];
  a.dtable = buffers[2];
  a.keys = work.keys;
  a.begins = work.begins;
  if (record.accumulate == WEFT_ADD_IF_FLAG)
    a.flag = as<float>(buffers[3]);
  a.rows = record.rows;
  a.columns = record.columns;
  a.columnBlocks = countPieces(record.columns, kEmbeddingColumns);
  a.accumulate = record.accumulate;
  launch(context, command, gradKernel(record), a.rows * a.columnBlocks,
         kEmbeddingColumns, 0, a);
}

} // namespace
} // namespace weft::cuda

using namespace weft;
using namespace weft::cuda;

extern "C" void weft_cuda_embedding(WeftContext *context,
                                    const WeftCommand *command,
                                    void *const *buffers) {
  const auto *record = recordOf<WEFT_EMBEDDING>(*context, *command);
  if (!record || !checkEmbedding(*context, *command, *record))
    return;
  int64_t rowBytes = record->columns * floatBytes(record->dtype);
  int64_t unit = UnitBytes()
                     .divides(buffers[0])
                     .divides(buffers[2])
                     .divides(rowBytes)
                     .get();
  EmbeddingArguments a = {};
  a.table = buffers[0];
  a.ids = buffers[1];
  a.out = buffers[2];
  a.count = record->count;
  a.rows = record->rows;
  a.unitsPerRow = rowBytes / unit;
  a.wideIds = record->dtypeIds == WEFT_I64;
  a.nanUnit = findFloatFormat(record->dtype)->nanBits;
  launch(*context, *command, "weft_embedding_" + std::to_string(unit),
         blocksFor(a.count, kEmbeddingThreads / 32), kEmbeddingThreads, 0, a);
}

extern "C" void weft_cuda_embedding_grad(WeftContext *context,
                                         const WeftCommand *command,
                                         void *const *buffers) {
  const auto *record = recordOf<WEFT_EMBEDDING_GRAD>(*context, *command);
  if (!record || !checkEmbeddingGrad(*context, *command, *record) ||
      !checkRange(*context, *command, "count", record->count, 1, INT32_MAX) ||
      !checkRange(*context, *command, "rows", record->rows, 1, INT32_MAX))
    return;
  char *memory = workspaceOf(*context, *command, buffers,
                             cudaEmbeddingGradWorkspaceBytes(*record));
  if (memory)
    runGrad(*context, *command, *record, buffers, memory);
}
