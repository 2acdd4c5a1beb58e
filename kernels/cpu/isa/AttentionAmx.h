//===- AttentionAmx.h - Products in the tiles of AMX ------------*- C++ -*-===//
//
// A register of AMX holds 16 rows of 64 bytes. TDPBF16PS adds the product of 16
// x 16 words and 16 x 16 words to 16 x 16 floats. Operands are padded to whole
// registers, so that one configuration serves all products.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_ATTENTIONAMX_H
#define WEFT_KERNELS_CPU_ISA_ATTENTIONAMX_H

#include "AttentionTiles.h"

namespace weft {
namespace WEFT_ISA {

#if defined(__AMX_BF16__)

constexpr bool kHasAmx = true;

/// Rows of the left operand, and words along the sum, that one instruction
/// multiplies.
constexpr int64_t kRowStep = 16, kDepthStep = 16;
static_assert(kRowStep == kScratchRows && 2 * kDepthStep == kScratchDepth,
              "scratch is laid out for other registers");

/// Configures the registers of the thread, if `use`, and releases them at the
/// end.
class AmxRegisters {
public:
  explicit AmxRegisters(bool use) : use(use) {
    if (!use)
      return;
    struct alignas(64) {
      uint8_t palette, startRow, reserved[14];
      uint16_t rowBytes[16];
      uint8_t rows[16];
    } config = {};
    config.palette = 1;
    for (int i = 0; i < 8; ++i)
      config.rowBytes[i] = 64, config.rows[i] = 16;
    _tile_loadconfig(&config);
  }
  ~AmxRegisters() {
    if (use)
      _tile_release();
  }
  AmxRegisters(const AmxRegisters &) = delete;
  AmxRegisters &operator=(const AmxRegisters &) = delete;

private:
  bool use;
};

/// The number of a register, which is part of an instruction: 0 to 3 hold sums,
/// 4 and 5 left operands, 6 and 7 right ones.
template <int Number> struct Register {
  static constexpr int number = Number;
};

/// Calls body(register, row, column) for each register of sums.
template <int Rows, int Columns, typename Body>
WEFT_INLINE void forEachSum(Body body) {
  body(Register<0>(), 0, 0);
  if constexpr (Columns > 1)
    body(Register<1>(), 0, 1);
  if constexpr (Rows > 1)
    body(Register<2>(), 1, 0);
  if constexpr (Rows > 1 && Columns > 1)
    body(Register<3>(), 1, 1);
}

/// One or two by one or two registers of sums.
template <int Rows, int Columns>
WEFT_INLINE void multiplyRegisters(const TileProduct &p, int64_t row,
                                   int64_t column) {
  const int64_t aBytes = p.aRow * 4, bBytes = p.bRow * 4, cBytes = p.cRow * 4;
  const float *a = p.a + row * p.aRow, *b = p.b + column;
  auto sumAt = [&](int64_t r, int64_t c) {
    return p.c + (row + r * 16) * p.cRow + column + c * 16;
  };
  forEachSum<Rows, Columns>([&](auto sum, int64_t r, int64_t c) {
    if (p.accumulate)
      _tile_loadd(sum.number, sumAt(r, c), cBytes);
    else
      _tile_zero(sum.number);
  });
  for (int64_t k = 0; k < p.depth; k += 16, a += 16, b += 16 * p.bRow) {
    _tile_loadd(4, a, aBytes);
    _tile_loadd(6, b, bBytes);
    if constexpr (Rows > 1)
      _tile_loadd(5, a + 16 * p.aRow, aBytes);
    if constexpr (Columns > 1)
      _tile_loadd(7, b + 16, bBytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (Columns > 1)
      _tile_dpbf16ps(1, 4, 7);
    if constexpr (Rows > 1)
      _tile_dpbf16ps(2, 5, 6);
    if constexpr (Rows > 1 && Columns > 1)
      _tile_dpbf16ps(3, 5, 7);
  }
  forEachSum<Rows, Columns>([&](auto sum, int64_t r, int64_t c) {
    _tile_stored(sum.number, sumAt(r, c), cBytes);
  });
}

template <int Columns>
WEFT_INLINE void multiplyColumnsOfRegisters(const TileProduct &p,
                                            int64_t column) {
  int64_t row = 0;
  for (; row + 16 < p.rows; row += 32)
    multiplyRegisters<2, Columns>(p, row, column);
  if (row < p.rows)
    multiplyRegisters<1, Columns>(p, row, column);
}

/// Rows count up to the next multiple of 16: the operands and sums behind the
/// last row exist and are arbitrary. `depth` is a multiple of 16, and aK is 1.
WEFT_INLINE void multiplyAmx(const TileProduct &p) {
  int64_t vec = 0;
  for (; vec + 2 <= p.vecs; vec += 2)
    multiplyColumnsOfRegisters<2>(p, vec * 16);
  if (vec < p.vecs)
    multiplyColumnsOfRegisters<1>(p, vec * 16);
}

#else

constexpr bool kHasAmx = false;
constexpr int64_t kRowStep = 1, kDepthStep = 1;
struct AmxRegisters {
  explicit AmxRegisters(bool) {}
};
WEFT_INLINE void multiplyAmx(const TileProduct &) {}

#endif

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ATTENTIONAMX_H
