//===- NcclExchange.cpp - Collectives of NCCL, in one order ---------------===//

#include "NcclRanks.h"

#include "weft/Abi/CollectiveRecords.h"

using namespace weft;

/// Two collectives of one rank that are at work at once may wait for each other
/// on two ranks: each waits for the one before.
Status NcclRanks::waitForLast(CUstream stream) {
  if (!lastStream || *lastStream == stream)
    return Status::success();
  if (Status s = cuda.cuEventRecord(lastDone.get(), *lastStream); !s)
    return s;
  return cuda.cuStreamWaitEvent(stream, lastDone.get(), 0u);
}

Status NcclRanks::inOrder(CUstream stream,
                          const std::function<Status()> &give) {
  if (isAborted)
    return Error(ExitCode::Communication, "the ranks have parted");
  lastStream = stream;
  Status given = give();
  hasFailed |= !given;
  return given;
}

Status NcclRanks::exchange(const DeviceExchange &wanted, CUstream stream) {
  return inOrder(stream, [&] { return move(wanted, stream); });
}

Status NcclRanks::reduce(const DeviceReduction &wanted, CUstream stream) {
  return inOrder(stream, [&] { return sum(wanted, stream); });
}

/// Of a mesh of one axis both groups are all ranks.
ncclComm_t NcclRanks::commOf(const WeftRankGroup &among) const {
  const Group &group = groups[groups.size() == 1 ? 0 : size_t(among.group)];
  const bool isReduction = group.reductions && among.stream == kReduceStream;
  return isReduction ? group.reductions : group.comm;
}

Status NcclRanks::move(const DeviceExchange &wanted, CUstream stream) {
  const ncclComm_t comm = commOf(wanted.among);
  const size_t bytes = size_t(wanted.bytes);
  if (bytes == 0)
    return Status::success();
  if (wanted.stride == 0)
    return settle("ncclAllGather",
                  nccl.ncclAllGather(wanted.send, wanted.receive, bytes,
                                     ncclInt8, comm, stream),
                  comm);
  if (wanted.stride != wanted.bytes)
    return Error(ExitCode::Internal,
                 "expects pieces that follow each other, but got a stride of " +
                     std::to_string(wanted.stride));
  return settle("ncclAlltoAll",
                nccl.ncclAlltoAll(wanted.send, wanted.receive, bytes, ncclInt8,
                                  comm, stream),
                comm);
}

static std::optional<ncclDataType_t> typeOf(int32_t dtype) {
  switch (dtype) {
  case WEFT_F32:
    return ncclFloat32;
  case WEFT_F64:
    return ncclFloat64;
  case WEFT_F16:
    return ncclFloat16;
  case WEFT_BF16:
    return ncclBfloat16;
  default:
    return std::nullopt;
  }
}

Status NcclRanks::sum(const DeviceReduction &wanted, CUstream stream) {
  const std::optional<ncclDataType_t> type = typeOf(wanted.dtype);
  if (!type)
    return Error(ExitCode::Internal,
                 "expects a floating-point type, but got dtype " +
                     std::to_string(wanted.dtype));
  if (wanted.elements == 0)
    return Status::success();
  const ncclComm_t comm = commOf(wanted.among);
  return settle("ncclReduceScatter",
                nccl.ncclReduceScatter(wanted.send, wanted.receive,
                                       size_t(wanted.elements), *type, ncclSum,
                                       comm, stream),
                comm);
}
