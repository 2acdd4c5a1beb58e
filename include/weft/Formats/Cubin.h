//===- Cubin.h - Machine code of CUDA devices -------------------*- C++ -*-===//
//
// A cubin is an ELF file whose sections `.nv.info` hold what the assembler
// found out about each kernel. The reader needs no CUDA toolkit, and refuses
// what is not whole: it never reads outside of the bytes that it is given.
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
  /// Of a block, without what a launch asks for beside it.
  uint64_t sharedBytes = 0;
  /// Of a thread: local memory of the kernel (arrays, spilled registers), and
  /// that with what it calls.
  uint32_t localBytes = 0, stackBytes = 0;
  uint64_t codeBytes = 0;
  /// Threads of a block: what the code needs (`.reqntid`) or allows
  /// (`.maxntid`); zeros if it says neither.
  std::array<uint32_t, 3> threads = {0, 0, 0};
};

struct Cubin {
  std::string chip;                 // "sm_90"
  uint64_t bytes = 0;               // of the whole file
  std::vector<CubinKernel> kernels; // in the order of their symbols
};

/// The cubin that `bytes` begin with; what stands behind it is left alone.
/// Exit 3 with what is wrong if it is none, or a broken one.
Expected<Cubin> readCubin(std::string_view bytes);

/// All cubins of a section: each begins at a multiple of 16 bytes, with zeros
/// before it.
Expected<std::vector<Cubin>> readCubins(std::string_view section);

} // namespace weft

#endif // WEFT_FORMATS_CUBIN_H
