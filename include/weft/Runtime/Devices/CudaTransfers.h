//===- CudaTransfers.h - Bytes between host and device ----------*- C++ -*-===//
//
// The device copies by itself only from and to memory that stays in place, so
// all other memory goes through two pieces of it: the device copies one while
// the host copies the other.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDATRANSFERS_H
#define WEFT_RUNTIME_DEVICES_CUDATRANSFERS_H

#include "weft/Runtime/Devices/CudaDriver.h"

namespace weft {

class CudaTransfers {
public:
  static constexpr int64_t kPieceBytes = int64_t(8) << 20;

  static Expected<CudaTransfers> make(const CudaCalls &cuda);

  /// Both work in the stream and return when everything has arrived.
  Status copyIn(CUstream stream, CUdeviceptr to, const void *from,
                int64_t bytes);
  Status copyOut(CUstream stream, void *to, CUdeviceptr from, int64_t bytes);

private:
  explicit CudaTransfers(const CudaCalls &cuda) : cuda(cuda) {}
  char *piece(int64_t i) const {
    return static_cast<char *>(memory.get()) + i % 2 * kPieceBytes;
  }

  CudaCalls cuda;
  CudaHostMemory memory;
  CudaEvent done[2]; // when the device is done with a piece
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDATRANSFERS_H
