//===- GgufBlocks.h - Element types of GGUF tensors -------------*- C++ -*-===//
//
// A quantized type stores blocks of consecutive elements of a row, each with
// its own scale. Values agree bit for bit with the functions `dequantize` and
// `quantize` of the Python package gguf.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_GGUFBLOCKS_H
#define WEFT_FORMATS_GGUFBLOCKS_H

#include <cstdint>
#include <string>

namespace weft {

/// Types that weft reads, by their number in a file.
enum class GgmlType : uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  BF16 = 30,
};

/// A type of the format, read or not.
struct GgmlTypeRow {
  uint32_t number;
  const char *name;
  int64_t blockElements;
  int64_t blockBytes;
  /// Converts `blocks` blocks to f32; null if weft does not read the type.
  void (*decode)(const uint8_t *from, int64_t blocks, float *out);
};

/// Null if no type has this number.
const GgmlTypeRow *findGgmlType(uint32_t number);
const GgmlTypeRow &rowOf(GgmlType type);
/// "F32, F16, ...": the types that weft reads.
std::string readableGgmlTypes();

/// Most elements of a block.
constexpr int64_t kMostBlockElements = 256;

/// Converts `count` elements, whole blocks, to F32, F16, BF16 or Q8_0. Returns
/// the number of quantized blocks with a value that is not finite or with a
/// scale that f16 cannot hold.
int64_t encodeGgml(GgmlType type, const float *from, int64_t count,
                   uint8_t *out);

} // namespace weft

#endif // WEFT_FORMATS_GGUFBLOCKS_H
