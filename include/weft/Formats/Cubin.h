//===- Cubin.h - Machine code of CUDA devices -------------------*- C++ -*-===//
//
// A cubin is an ELF file. Its `.nv.info` sections hold the assembler's facts
// about each kernel. The reader needs no CUDA toolkit. It rejects incomplete
// files: it never reads outside the given bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_CUBIN_H
#define WEFT_FORMATS_CUBIN_H

#include "weft/Base/Error.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weft {

/// One kernel of a cubin. Sizes are bytes.
struct CubinKernel {
  std::string name;
  uint32_t registers = 0; // of a thread
  /// Static shared memory of a block, without the dynamic part that a launch
  /// requests.
  uint64_t sharedBytes = 0;
  /// Of a thread: local memory of the kernel (arrays, spilled registers), and
  /// the local memory including the functions that it calls.
  uint32_t localBytes = 0, stackBytes = 0;
  uint64_t codeBytes = 0;
  /// Threads of a block that the code requires (`.reqntid`) or allows
  /// (`.maxntid`); zeros if it gives neither.
  std::array<uint32_t, 3> threads = {0, 0, 0};
};

struct Cubin {
  std::string chip; // "sm_90"
  /// Of NVIDIA's ELF ABI: 8 since CUDA 13. Drivers of CUDA 12 load up to 7.
  unsigned abiVersion = 0;
  uint64_t bytes = 0;               // of the whole file
  std::vector<CubinKernel> kernels; // in the order of their symbols
};

/// The cubin at the start of `bytes`; bytes after it are ignored. Exit 3 with
/// the reason if there is none, or a damaged one.
Expected<Cubin> readCubin(std::string_view bytes);

/// All cubins of a section: each begins at a multiple of 16 bytes, with zeros
/// before it.
Expected<std::vector<Cubin>> readCubins(std::string_view section);

} // namespace weft

#endif // WEFT_FORMATS_CUBIN_H
