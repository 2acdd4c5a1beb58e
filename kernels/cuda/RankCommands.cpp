//===- RankCommands.cpp - Collectives of CUDA devices ---------------------===//
//
// The device moves bytes between ranks. Kernels add them, in the order of
// ranks; of a native reduction the library between the devices does.
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "Launching.h"
#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Runtime/Execute/DTypes.h"

namespace weft::cuda {
namespace {

/// The record of a command with `list` entries behind it; null, with an error
/// in the context, if it has another size, or if the command has other buffers.
template <typename Record>
const Record *findCollective(WeftContext &context, const WeftCommand &command,
                             int64_t list, int32_t buffers) {
  const int64_t bytes = int64_t(sizeof(Record)) + 8 * list;
  if (!checkBuffers(context, command, buffers))
    return nullptr;
  if (command.record && command.recordBytes == bytes)
    return static_cast<const Record *>(command.record);
  failCommand(context, command, "expects a record of ", bytes,
              " bytes, but got ", command.recordBytes);
  return nullptr;
}

/// Whether the ranks and elements of a record are possible and its type can be
/// moved and summed.
template <typename Record>
bool checkMoved(WeftContext &context, const WeftCommand &command,
                const Record &record) {
  return checkRange(context, command, "ranks", record.among.ranks, 1) &&
         checkRange(context, command, "elements", record.elements, 0) &&
         (record.dtype == WEFT_F64 ||
          checkFloatType(context, command, "slices", record.dtype));
}

template <typename Record> int64_t bytesOf(const Record &record) {
  return record.elements * dtypeBytes(int32_t(record.dtype));
}

void launchSum(WeftContext &context, const WeftCommand &command, int64_t dtype,
               const RankSumArguments &a) {
  const std::string name = dtype == WEFT_F64 ? "f64" : typeName(dtype);
  launch(context, command, "weft_rank_sum_" + name,
         blocksFor(a.elements, kMoveThreads), kMoveThreads, 0, a);
}

void sumSlices(WeftContext &context, const WeftCommand &command,
               const WeftReduceScatterRecord &record, const void *slices,
               void *out) {
  launchSum(context, command, record.dtype,
            {slices, out, record.elements, record.among.ranks, record.pre,
             record.post});
}

/// out = from / divisor, rounded: the sum over one rank.
void divide(WeftContext &context, const WeftCommand &command,
            const WeftReduceScatterRecord &record, const void *from, void *out,
            int64_t elements, double divisor) {
  launchSum(context, command, record.dtype,
            {from, out, elements, /*ranks=*/1, divisor, /*post=*/1});
}

/// The elements are divided by `pre` in the workspace, and the library adds
/// them.
void reduceNatively(WeftContext &context, const WeftCommand &command,
                    const WeftReduceScatterRecord &record, const void *full,
                    void *out, void *workspace) {
  if (record.pre != 1) {
    divide(context, command, record, full, workspace,
           record.among.ranks * record.elements, record.pre);
    full = workspace;
  }
  reduceOnDevices(
      context, command,
      {record.among, full, out, record.elements, int32_t(record.dtype)});
  if (record.post != 1)
    divide(context, command, record, out, out, record.elements, record.post);
}

/// Numbers [begin, end) of an all_reduce; `numbers` are their buffers.
RankNumbersArguments numbersOf(const WeftAllReduceRecord &record, int64_t begin,
                               int64_t end, void *const *numbers,
                               void *packed) {
  const auto *kinds = reinterpret_cast<const int64_t *>(&record + 1);
  RankNumbersArguments a = {};
  a.packed = static_cast<double *>(packed) + begin;
  a.count = end - begin;
  a.stride = record.count;
  a.ranks = record.among.ranks;
  for (int64_t i = begin; i < end; ++i) {
    a.numbers[i - begin] = numbers[i];
    a.kinds[i - begin] = int32_t(kinds[i]);
  }
  return a;
}

/// Launches a kernel on all numbers of an all_reduce.
void launchNumbers(WeftContext &context, const WeftCommand &command,
                   const WeftAllReduceRecord &record, const char *kernel,
                   void *const *numbers, void *packed) {
  for (int64_t begin = 0; begin < record.count; begin += kRankNumbers) {
    const int64_t end = std::min(record.count, begin + kRankNumbers);
    launch(context, command, kernel, 1, kRankNumbers, 0,
           numbersOf(record, begin, end, numbers, packed));
  }
}

} // namespace
} // namespace weft::cuda

using namespace weft;
using namespace weft::cuda;

extern "C" void weft_cuda_all_gather(WeftContext *context,
                                     const WeftCommand *command,
                                     void *const *buffers) {
  const auto *record =
      findCollective<WeftAllGatherRecord>(*context, *command, 0, 2);
  if (record && checkMoved(*context, *command, *record))
    exchangeOnDevices(
        *context, *command,
        {record->among, buffers[0], 0, buffers[1], bytesOf(*record)});
}

extern "C" void weft_cuda_reduce_scatter(WeftContext *context,
                                         const WeftCommand *command,
                                         void *const *buffers) {
  const auto *record =
      findCollective<WeftReduceScatterRecord>(*context, *command, 0, 2);
  if (!record || !checkMoved(*context, *command, *record) ||
      !checkRange(*context, *command, "native", record->native, 0, 1))
    return;
  char *slices =
      workspaceOf(*context, *command, buffers, cudaReduceScatterBytes(*record));
  if (!slices)
    return;
  if (record->native && canReduceOnDevices(*context))
    return reduceNatively(*context, *command, *record, buffers[0], buffers[1],
                          slices);
  const int64_t bytes = bytesOf(*record);
  exchangeOnDevices(*context, *command,
                    {record->among, buffers[0], bytes, slices, bytes});
  sumSlices(*context, *command, *record, slices, buffers[1]);
}

extern "C" void weft_cuda_own_slice(WeftContext *context,
                                    const WeftCommand *command,
                                    void *const *buffers) {
  const auto *record =
      findCollective<WeftOwnSliceRecord>(*context, *command, 0, 2);
  if (!record || !checkMoved(*context, *command, *record))
    return;
  const int rank = rankOnDevice(*context, *command, record->among);
  const int64_t bytes = bytesOf(*record);
  copyOnDevice(*context, *command, buffers[1],
               static_cast<const char *>(buffers[0]) + rank * bytes, bytes);
}

extern "C" void weft_cuda_rank(WeftContext *context, const WeftCommand *command,
                               void *const *buffers) {
  const auto *record = findCollective<WeftRankRecord>(*context, *command, 0, 1);
  if (!record)
    return;
  FillArguments a = {};
  a.to = buffers[0];
  a.units = 1;
  a.pattern[0] = a.pattern[1] =
      uint64_t(rankOnDevice(*context, *command, record->among));
  launch(*context, *command, "weft_fill_8", 1, kMoveThreads, 0, a);
}

extern "C" void weft_cuda_all_reduce(WeftContext *context,
                                     const WeftCommand *command,
                                     void *const *buffers) {
  const int64_t count = command->numBuffers / 2;
  const auto *record = findCollective<WeftAllReduceRecord>(
      *context, *command, count, int32_t(2 * count));
  if (!record ||
      !checkRange(*context, *command, "count", record->count, count, count) ||
      !checkRange(*context, *command, "ranks", record->among.ranks, 1))
    return;
  auto *all = reinterpret_cast<double *>(
      workspaceOf(*context, *command, buffers, cudaAllReduceBytes(*record)));
  const int rank = rankOnDevice(*context, *command, record->among);
  if (context->failed())
    return;
  double *own = all + rank * count;
  launchNumbers(*context, *command, *record, "weft_rank_pack", buffers, own);
  exchangeOnDevices(*context, *command,
                    {record->among, own, 0, all, count * 8});
  launchNumbers(*context, *command, *record, "weft_rank_numbers",
                buffers + count, all);
}
