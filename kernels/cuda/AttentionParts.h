//===- AttentionParts.h - Shared parts of the attention kernels -*- C++ -*-===//

#ifndef WEFT_KERNELS_CUDA_ATTENTIONPARTS_H
#define WEFT_KERNELS_CUDA_ATTENTIONPARTS_H

#include "AttentionVariant.h"
#include "DeviceLanguage.h"
#include "KernelArguments.h"
#include "weft/Abi/DropoutBits.h"
#include "weft/Abi/Philox.h"

namespace weft::cuda {

/// The tile and head that a block owns. Blocks of one head follow each other.
/// Late query tiles see the most keys, so they come first.
struct BlockPlace {
  int batch, head, tile;

  WEFT_MEMBER BlockPlace(const AttentionArguments &a, unsigned block, int heads,
                         bool lastTileFirst) {
    unsigned tiles = static_cast<unsigned>(a.tiles);
    unsigned rest = block / tiles;
    tile = static_cast<int>(block - rest * tiles);
    if (lastTileFirst)
      tile = a.tiles - 1 - tile;
    batch = static_cast<int>(rest / static_cast<unsigned>(heads));
    head = static_cast<int>(rest % static_cast<unsigned>(heads));
  }
};

template <typename Type>
WEFT_DEVICE typename Type::Bits *rowsOf(const HeadsArgument &tensor, int batch,
                                        int head) {
  return static_cast<typename Type::Bits *>(tensor.data) +
         batch * tensor.strides.batch + head * tensor.strides.head;
}

/// Number of the first row of a head in lse and delta.
WEFT_DEVICE int64_t firstRow(const AttentionArguments &a, int batch, int head) {
  return (static_cast<int64_t>(batch) * a.heads + head) * a.queries;
}

/// How a kernel knows which scores dropout keeps.
enum class Dropout {
  None,  // it keeps all
  Drawn, // it draws random numbers, and may store the bits
  Stored // it reads the bits
};

/// Stored dropout bits of a head (weft/Abi/DropoutBits.h). Sizes are read from
/// the arguments, which take no registers.
struct StoredBits {
  const AttentionArguments &a;
  int batch, head;

  /// Whether the query has a place: none has if no bits are stored, and the
  /// last block of the forward pass owns more rows than exist.
  WEFT_MEMBER bool has(int query) const {
    return query < a.bitQueryTiles * int(kBitQueries);
  }
  /// Words between tiles of neighbouring queries.
  WEFT_MEMBER int rowWords() const { return a.bitKeyTiles * int(kBitWords); }
  /// The words of the tile that has this query and this key.
  WEFT_MEMBER uint32_t *tile(int query, int key) const {
    int64_t row =
        static_cast<int64_t>(batch * a.heads + head) * a.bitQueryTiles +
        query / int(kBitQueries);
    return a.bits + (row * a.bitKeyTiles + key / int(kBitKeys)) * kBitWords;
  }
};

/// Which keys the queries of a head see, and which a dropout keeps. Kernels
/// without dropout are kernels of their own: its numbers take registers.
/// Kernels that read stored bits are separate as well.
template <Dropout kDropout, bool kVaries>
struct HeadRules : VariantRules<kVaries> {
  using Variant = VariantRules<kVaries>;
  static constexpr bool drops = kDropout != Dropout::None, varies = kVaries;
  static constexpr bool reads = kDropout == Dropout::Stored;
  int queries, keys, reach; // query i sees keys up to i + reach
  float keepScale;
  uint32_t threshold;
  PhiloxKey key;
  uint64_t row, firstElement;
  StoredBits bits;

  WEFT_MEMBER HeadRules(const ArgumentsOf<kVaries> &a, int batch, int head)
      : Variant(a, batch), queries(a.queries), keys(a.keys),
        reach(Variant::reachOf(a)), keepScale(a.keepScale),
        threshold(a.dropThreshold), key{0, 0}, row(0), firstElement(0),
        bits{a, batch, head} {
    if constexpr (!drops)
      return;
    if constexpr (!reads) {
      key = philoxKey(static_cast<uint64_t>(a.rng[0]),
                      static_cast<uint64_t>(a.opId));
      row = static_cast<uint64_t>(a.rng[1]) + static_cast<uint64_t>(batch);
    }
    moveTo(head);
  }
  /// To another head of the same batch row.
  WEFT_MEMBER void moveTo(int head) {
    bits.head = head;
    firstElement = static_cast<uint64_t>(head) *
                   static_cast<uint64_t>(queries) * static_cast<uint64_t>(keys);
  }

  WEFT_MEMBER bool sees(int query, int key) const {
    if constexpr (kVaries)
      return key < keys && key - query <= reach && Variant::allows(query, key);
    return key < keys && key - query <= reach;
  }
  /// Whether a query of the sixteen from `query` on may see a key of the
  /// sixteen from `key` on, documents aside. The forward pass has then computed
  /// these scores, so that their bits are written.
  WEFT_MEMBER bool meets(int query, int key) const {
    const bool sees =
        key < keys && key - smaller(query + 15, queries - 1) <= reach;
    if constexpr (kVaries)
      return sees && key + 15 - query > this->a.behind;
    return sees;
  }
  /// Whether any of `rows` queries from `query` on must not see one of the keys
  /// before `keyEnd`.
  WEFT_MEMBER bool needsMask(int query, int keyEnd) const {
    if constexpr (kVaries)
      if (Variant::mayHide())
        return true;
    return keyEnd > keys || keyEnd - 1 - query > reach;
  }
  /// Keys that the queries before `queryEnd` see.
  WEFT_MEMBER int keyEnd(int queryEnd) const {
    return queryEnd >= keys - reach ? keys : larger(0, queryEnd + reach);
  }
  /// The first query that sees a key.
  WEFT_MEMBER int firstQuery(int key) const { return larger(0, key - reach); }

  WEFT_MEMBER uint64_t element(int query, int key) const {
    return firstElement + static_cast<uint64_t>(query) * keys + key;
  }
  WEFT_MEMBER bool keeps(int query, int key) const {
    uint64_t at = element(query, key);
    PhiloxBlock block = philoxBlock(this->key, row, at / 4);
    // Registers have no index.
    uint32_t first = at & 1 ? block.lane[1] : block.lane[0];
    uint32_t second = at & 1 ? block.lane[3] : block.lane[2];
    return philoxKeeps(at & 2 ? second : first, threshold);
  }
  /// Whether the numbers of four keys from a multiple of four on are one block.
  WEFT_MEMBER bool hasWholeBlocks() const { return keys % 4 == 0; }
  /// Four bits for each of kBlocks blocks that say which of its keys are kept.
  /// The first begins at (query, key), each next one as many queries and keys
  /// on. A round of all comes before the next round of any: other blocks fill
  /// the time that a block waits for its last round.
  template <int kBlocks>
  WEFT_MEMBER uint32_t keepBits(int query, int key, int queryStep,
                                int keyStep) const {
    static_assert(kBlocks <= 8, "more keys than bits");
    PhiloxBlock blocks[kBlocks];
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
      blocks[n] = philoxCounter(
          row, element(query + n * queryStep, key + n * keyStep) / 4);
    PhiloxKey roundKey = this->key;
#pragma unroll 5
    for (int round = 0; round < kPhiloxRounds; ++round) {
#pragma unroll
      for (int n = 0; n < kBlocks; ++n)
        philoxRound(roundKey, blocks[n]);
      roundKey = philoxNextKey(roundKey);
    }
    uint32_t bits = 0, last = philoxLastDropped(threshold);
#pragma unroll
    for (int i = 0; i < 4 * kBlocks; ++i)
      bits |= philoxKeepsAbove(blocks[i / 4].lane[i % 4], last) ? 1u << i : 0u;
    return bits;
  }
};

/// e^(score - lse) is 0 for every score of a query that saw no key, and of one
/// that does not exist.
WEFT_DEVICE float lseOrInfinity(const float *lse, int query, int queries) {
  float value = query < queries ? lse[query] : infinity();
  return value == -infinity() ? infinity() : value;
}

/// Sixteen bytes of a row as f32: elements from d on, 0 behind the head. The
/// bits do not depend on whether they are read at once.
template <typename Type> struct RowUnit {
  static constexpr int kElements = 16 / sizeof(typename Type::Bits);
  float x[kElements];

  WEFT_MEMBER void load(const typename Type::Bits *row, int d,
                        const AttentionArguments &a) {
    Unit16 unit = {0, 0};
    auto *elements = reinterpret_cast<typename Type::Bits *>(&unit);
    if (a.vectors) {
      if (d < a.headSize)
        unit = *reinterpret_cast<const Unit16 *>(row + d);
    } else {
#pragma unroll
      for (int k = 0; k < kElements; ++k)
        if (d + k < a.headSize)
          elements[k] = row[d + k];
    }
#pragma unroll
    for (int k = 0; k < kElements; ++k)
      x[k] = Type::widen(elements[k]);
  }
};

/// delta = the sum of dout * out over a row, for heads of up to D elements. The
/// lanes of a row take 16 bytes each, and again as many until the row ends.
template <typename Type, int D>
WEFT_DEVICE void sumRows(const AttentionArguments &a) {
  constexpr int kLanes = kDeltaLanes<D, sizeof(typename Type::Bits)>;
  constexpr int kElements = RowUnit<Type>::kElements;
  const int64_t step = globalSize() / kLanes;
  // All rows of a warp at a time: its lanes meet in the sum.
  for (int64_t first = globalIndex() / kWarp * (kWarp / kLanes); first < a.rows;
       first += step) {
    int64_t row = first + laneIndex() / kLanes;
    const bool exists = row < a.rows;
    row = exists ? row : first;
    int query = static_cast<int>(row % a.queries);
    int64_t head = row / a.queries;
    int batch = static_cast<int>(head / a.heads);
    head = head % a.heads;
    const auto *out = rowsOf<Type>(a.out, batch, static_cast<int>(head)) +
                      query * a.out.strides.row;
    const auto *dout = rowsOf<Type>(a.dout, batch, static_cast<int>(head)) +
                       query * a.dout.strides.row;
    float sum = 0.0f;
    for (int d = laneIndex() % kLanes * kElements; d < a.headSize;
         d += kLanes * kElements) {
      RowUnit<Type> x, y;
      x.load(dout, d, a);
      y.load(out, d, a);
#pragma unroll
      for (int k = 0; k < kElements; ++k)
        sum = fusedMultiplyAdd(x.x[k], y.x[k], sum);
    }
    sum = sumOfLanes<kLanes>(sum);
    if (exists && laneIndex() % kLanes == 0)
      a.delta[row] = sum;
  }
}

} // namespace weft::cuda

/// Whether this machine code has the kernels for heads of up to D elements,
/// without and with the rules of a variant. The build compiles one head size of
/// one of them at a time (WEFT_HEAD_SIZE, WEFT_VARIANT); without these macros
/// all are present.
#ifdef WEFT_HEAD_SIZE
#define WEFT_HAS_HEADS(D) (WEFT_HEAD_SIZE == D && !WEFT_VARIANT)
#define WEFT_HAS_VARIANT(D) (WEFT_HEAD_SIZE == D && WEFT_VARIANT)
#else
#define WEFT_HAS_HEADS(D) 1
#define WEFT_HAS_VARIANT(D) 1
#endif

/// The same for all widths of heads, in the machine code of each.
#define WEFT_ATTENTION_DELTA(name, Type, D)                                    \
  WEFT_KERNEL(weft_attention_delta_##name, AttentionArguments, kDeltaThreads,  \
              1) {                                                             \
    sumRows<Type, D>(a);                                                       \
  }

#endif // WEFT_KERNELS_CUDA_ATTENTIONPARTS_H
