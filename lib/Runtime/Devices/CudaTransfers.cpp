//===- CudaTransfers.cpp - Bytes between host and device ------------------===//

#include "weft/Runtime/Devices/CudaTransfers.h"

#include <algorithm>
#include <cstring>

using namespace weft;

Expected<CudaTransfers> CudaTransfers::make(const CudaCalls &cuda) {
  CudaTransfers transfers(cuda);
  auto memory = makeHostMemory(cuda, 2 * kPieceBytes);
  if (!memory)
    return memory.takeError();
  transfers.memory = std::move(*memory);
  for (CudaEvent &event : transfers.done) {
    auto made = makeEvent(cuda);
    if (!made)
      return made.takeError();
    event = std::move(*made);
  }
  return transfers;
}

static int64_t piecesOf(int64_t bytes) {
  return (bytes + CudaTransfers::kPieceBytes - 1) / CudaTransfers::kPieceBytes;
}

/// Bytes of piece `i`.
static int64_t sizeOf(int64_t i, int64_t bytes) {
  return std::min(CudaTransfers::kPieceBytes,
                  bytes - i * CudaTransfers::kPieceBytes);
}

Status CudaTransfers::copyIn(CUstream stream, CUdeviceptr to, const void *from,
                             int64_t bytes) {
  const char *source = static_cast<const char *>(from);
  for (int64_t i = 0; i < piecesOf(bytes); ++i) {
    const int64_t at = i * kPieceBytes;
    const size_t size = size_t(sizeOf(i, bytes));
    if (i >= 2)
      if (Status s = cuda.cuEventSynchronize(done[i % 2].get()); !s)
        return s;
    std::memcpy(piece(i), source + at, size);
    if (Status s = cuda.cuMemcpyHtoDAsync_v2(to + CUdeviceptr(at), piece(i),
                                             size, stream);
        !s)
      return s;
    if (Status s = cuda.cuEventRecord(done[i % 2].get(), stream); !s)
      return s;
  }
  return cuda.cuStreamSynchronize(stream);
}

Status CudaTransfers::copyOut(CUstream stream, void *to, CUdeviceptr from,
                              int64_t bytes) {
  char *target = static_cast<char *>(to);
  const int64_t pieces = piecesOf(bytes);
  // The device copies one piece ahead of the host.
  for (int64_t i = 0; i <= pieces; ++i) {
    if (i < pieces) {
      if (Status s = cuda.cuMemcpyDtoHAsync_v2(
              piece(i), from + CUdeviceptr(i * kPieceBytes),
              size_t(sizeOf(i, bytes)), stream);
          !s)
        return s;
      if (Status s = cuda.cuEventRecord(done[i % 2].get(), stream); !s)
        return s;
    }
    if (i == 0)
      continue;
    if (Status s = cuda.cuEventSynchronize(done[(i - 1) % 2].get()); !s)
      return s;
    std::memcpy(target + (i - 1) * kPieceBytes, piece(i - 1),
                size_t(sizeOf(i - 1, bytes)));
  }
  return Status::success();
}
