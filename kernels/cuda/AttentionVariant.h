//===- AttentionVariant.h - Windows, documents and softcap ------*- C++ -*-===//
//
// The rules of a WeftAttentionVariant for the kernels of attention. Kernels
// without these rules are kernels of their own, in machine code of their own:
// the rules take registers, and few programs have them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_ATTENTIONVARIANT_H
#define WEFT_KERNELS_CUDA_ATTENTIONVARIANT_H

#include "DeviceLanguage.h"
#include "KernelArguments.h"

namespace weft::cuda {

template <bool kVaries>
using ArgumentsOf =
    std::conditional_t<kVaries, AttentionVariantArguments, AttentionArguments>;

/// A score under a softcap, and its derivative in the product, without the
/// scale.
struct CappedScore {
  float score, slope;
};

/// tanh x, by the formulas of the CPU (AttentionVisible.h).
WEFT_DEVICE float hyperbolicTangent(float x) {
  float size = x < 0.0f ? -x : x, square = x * x;
  float p = -5.70498872745e-3f;
  p = fusedMultiplyAdd(p, square, 2.06390887954e-2f);
  p = fusedMultiplyAdd(p, square, -5.37397155531e-2f);
  p = fusedMultiplyAdd(p, square, 1.33314422036e-1f);
  p = fusedMultiplyAdd(p, square, -3.33332819422e-1f);
  float small = fusedMultiplyAdd(p * square, x, x);
  float clamped = size > 10.0f ? 10.0f : size;
  float power = powerOfTwo(clamped * (2.0f * kLog2E));
  float large = 1.0f - 2.0f / (power + 1.0f);
  large = x < 0.0f ? -large : large;
  return size < 0.625f ? small : large;
}

//===----------------------------------------------------------------------===//
// Without rules
//===----------------------------------------------------------------------===//

/// The rules of a head on top of HeadRules, for the rows that the block owns:
/// queries or keys.
template <bool kVaries> struct VariantRules {
  WEFT_MEMBER VariantRules(const AttentionArguments &, int) {}
  WEFT_MEMBER static int reachOf(const AttentionArguments &a) {
    return a.causal ? a.keys - a.queries : a.keys;
  }
  WEFT_MEMBER static int keyBegin(int, int) { return 0; }
  WEFT_MEMBER static int queryEnd(const AttentionArguments &a, int) {
    return a.queries;
  }
  WEFT_MEMBER static void takeOwn(int, int) {}
  WEFT_MEMBER static bool skips(int, int) { return false; }
  WEFT_MEMBER static int nextTile(int at, int, int) { return at; }
  WEFT_MEMBER static CappedScore cap(float score, float) {
    return {score, 1.0f};
  }
  WEFT_MEMBER static float timesSlope(float gradient, const CappedScore &) {
    return gradient;
  }
};

//===----------------------------------------------------------------------===//
// With rules
//===----------------------------------------------------------------------===//

template <> struct VariantRules<true> {
  /// The smallest and the largest of some ids.
  struct IdRange {
    int least, most;
  };

  // Numbers are read from the arguments, which take no registers.
  const AttentionVariantArguments &a;
  const int32_t *ids; // of the batch row, or null
  IdRange own;

  WEFT_MEMBER VariantRules(const AttentionVariantArguments &a, int batch)
      : a(a),
        ids(a.ids ? a.ids + static_cast<int64_t>(batch) * a.queries : nullptr),
        own{0, 0} {}

  WEFT_MEMBER static int reachOf(const AttentionVariantArguments &a) {
    return a.causal ? a.keys - a.queries : a.window ? a.window - 1 : a.keys;
  }
  /// Of a key that exists; the query may lie behind the last one.
  WEFT_MEMBER bool allows(int query, int key) const {
    return key - query > a.behind &&
           (!ids || ids[smaller(query, a.queries - 1)] == ids[key]);
  }
  WEFT_MEMBER bool mayHide() const { return ids || a.window; }
  /// First of the tiles of keys that the queries from `query` on see.
  WEFT_MEMBER int keyBegin(int query, int columns) const {
    return larger(0, query + a.behind + 1) / columns * columns;
  }
  /// Behind the queries that see a key before `keyEnd`.
  WEFT_MEMBER int queryEnd(const AttentionArguments &, int keyEnd) const {
    return smaller(a.queries, keyEnd - 1 - a.behind);
  }

  /// By a warp, with the same result for all lanes.
  WEFT_MEMBER IdRange findIds(int begin, int end) const {
    int first = ids[begin];
    IdRange range = {first, first};
    for (int i = begin + laneIndex(); i < end; i += kWarp)
      range = {smaller(range.least, ids[i]), larger(range.most, ids[i])};
#pragma unroll
    for (int bit = kWarp / 2; bit > 0; bit /= 2)
      range = {smaller(range.least, fromLane(range.least, bit)),
               larger(range.most, fromLane(range.most, bit))};
    return range;
  }
  WEFT_MEMBER static int fromLane(int x, int bit) {
    return static_cast<int>(shuffleXor(static_cast<uint32_t>(x), bit));
  }
  /// The block's rows are [begin, begin + rows), as far as they exist.
  WEFT_MEMBER void takeOwn(int begin, int rows) {
    if (ids)
      own = findIds(begin, smaller(begin + rows, a.queries));
  }
  /// Whether no row of the tile from `begin` on has an id of the own rows'
  /// range. All threads of the block ask and get one answer.
  WEFT_MEMBER bool skips(int begin, int rows) const {
    if (!ids)
      return false;
    IdRange other = findIds(begin, smaller(begin + rows, a.queries));
    return other.most < own.least || other.least > own.most;
  }
  /// The first tile from `at` on that is not skipped; `end` or more if none is.
  WEFT_MEMBER int nextTile(int at, int end, int rows) const {
    while (at < end && skips(at, rows))
      at += rows;
    return at;
  }

  /// Scores times `unit`: 1, or log2(e).
  WEFT_MEMBER CappedScore cap(float score, float unit) const {
    if (a.softcap == 0.0f)
      return {score, 1.0f};
    float t = hyperbolicTangent(score * (a.inverseSoftcap / unit));
    return {a.softcap * unit * t, 1.0f - t * t};
  }
  WEFT_MEMBER static float timesSlope(float gradient,
                                      const CappedScore &capped) {
    return gradient * capped.slope;
  }
};

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_ATTENTIONVARIANT_H
