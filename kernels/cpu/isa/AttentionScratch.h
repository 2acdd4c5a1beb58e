//===- AttentionScratch.h - Layout of a worker's scratch --------*- C++ -*-===//
//
// Shared by the loops of every instruction set and by the code that reserves
// the memory, which must run on every processor: plain arithmetic, all inlined.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_ATTENTIONSCRATCH_H
#define WEFT_KERNELS_CPU_ISA_ATTENTIONSCRATCH_H

#include "Loops.h"

#include "weft/Abi/Executable.h"

namespace weft {

/// Room for the blocks of random numbers that cover a row of a tile.
constexpr int64_t kKeepRow = kKeyTile + 8;

/// Hands out pieces of a worker's scratch; counts only, when base is null.
struct ScratchPieces {
  float *base;
  int64_t used;
};

WEFT_INLINE float *takePiece(ScratchPieces &pieces, int64_t floats) {
  float *piece = pieces.base ? pieces.base + pieces.used : nullptr;
  pieces.used += (floats + 15) / 16 * 16;
  return piece;
}

/// Rows, and elements along a sum, of bf16 that AMX multiplies at once. Pieces
/// have whole ones, whatever the instruction set.
constexpr int64_t kScratchRows = 16, kScratchDepth = 32;

WEFT_INLINE int64_t wholeSteps(int64_t count, int64_t step) {
  return (count + step - 1) / step * step;
}

struct ForwardScratch {
  float *qT, *kTile, *vTile, *oT, *sT, *keep, *numbers, *max, *sum, *rest;
  int64_t floats;
};

WEFT_INLINE ForwardScratch layForward(float *base, int64_t width) {
  ScratchPieces pieces = {base, 0};
  ForwardScratch s;
  width = wholeSteps(width, kScratchDepth);
  s.qT = takePiece(pieces, width * kQueryTile);
  s.oT = takePiece(pieces, width * kQueryTile);
  s.kTile = takePiece(pieces, width * kKeyTile);
  s.vTile = takePiece(pieces, width * kKeyTile);
  s.sT = takePiece(pieces, kKeyTile * kQueryTile);
  s.keep = takePiece(pieces, kKeyTile * kQueryTile);
  s.numbers = takePiece(pieces, kQueryTile * kKeepRow);
  s.max = takePiece(pieces, kQueryTile);
  s.sum = takePiece(pieces, kQueryTile);
  s.rest = takePiece(pieces, kQueryTile);
  s.floats = pieces.used;
  return s;
}

struct BackwardScratch {
  float *dk, *dv;  // first, where attentionWriteKeys finds them
  float *keyWords; // of a head in bf16, all tiles
  float *qT, *doT, *dqT, *q, *dout, *kTile, *vTile, *pT, *dsT, *keep, *numbers,
      *lse, *delta;
  int64_t floats;
};

/// `row`: the width of a head, padded to whole vectors.
WEFT_INLINE BackwardScratch layBackward(float *base, int64_t dtype,
                                        int64_t keys, int64_t width,
                                        int64_t row) {
  ScratchPieces pieces = {base, 0};
  BackwardScratch s;
  s.dk = takePiece(pieces, wholeSteps(keys, kScratchRows) * row);
  s.dv = takePiece(pieces, wholeSteps(keys, kScratchRows) * row);
  width = wholeSteps(width, kScratchDepth);
  s.keyWords = takePiece(
      pieces, dtype == WEFT_BF16 ? wholeSteps(keys, kKeyTile) / 2 * width : 0);
  s.qT = takePiece(pieces, width * kQueryTile);
  s.doT = takePiece(pieces, width * kQueryTile);
  s.dqT = takePiece(pieces, width * kQueryTile);
  s.q = takePiece(pieces, kQueryTile * row);
  s.dout = takePiece(pieces, kQueryTile * row);
  s.kTile = takePiece(pieces, width * kKeyTile);
  s.vTile = takePiece(pieces, width * kKeyTile);
  s.pT = takePiece(pieces, kKeyTile * kQueryTile);
  s.dsT = takePiece(pieces, kKeyTile * kQueryTile);
  s.keep = takePiece(pieces, kKeyTile * kQueryTile);
  s.numbers = takePiece(pieces, kQueryTile * kKeepRow);
  s.lse = takePiece(pieces, kQueryTile);
  s.delta = takePiece(pieces, kQueryTile);
  s.floats = pieces.used;
  return s;
}

} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ATTENTIONSCRATCH_H
