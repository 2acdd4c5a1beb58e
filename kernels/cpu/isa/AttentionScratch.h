//===- AttentionScratch.h - Layout of a worker's scratch --------*- C++ -*-===//
//
// Shared by the loops of every instruction set and by the code that reserves
// the memory, which must run on every processor: plain arithmetic, all inlined.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_ATTENTIONSCRATCH_H
#define WEFT_KERNELS_CPU_ISA_ATTENTIONSCRATCH_H

#include "Loops.h"

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

struct ForwardScratch {
  float *qT, *kTile, *vTile, *oT, *sT, *keep, *numbers, *max, *sum, *rest;
  int64_t floats;
};

WEFT_INLINE ForwardScratch layForward(float *base, int64_t width) {
  ScratchPieces pieces = {base, 0};
  ForwardScratch s;
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
  float *dk, *dv; // first, where attentionWriteKeys finds them
  float *qT, *doT, *dqT, *q, *dout, *kTile, *vTile, *pT, *dsT, *keep, *numbers,
      *lse, *delta;
  int64_t floats;
};

/// `row`: the width of a head, padded to whole vectors.
WEFT_INLINE BackwardScratch layBackward(float *base, int64_t keys,
                                        int64_t width, int64_t row) {
  ScratchPieces pieces = {base, 0};
  BackwardScratch s;
  s.dk = takePiece(pieces, keys * row);
  s.dv = takePiece(pieces, keys * row);
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
