//===- Philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011) and the meaning weft gives to its counters and keys. A
// number depends on nothing but its key, row and element, so neither tiling,
// threads nor ranks change it.
//
//   key      64 bits made from (seed, stream); the stream is an op id (dropout)
//            or the hash of a parameter's name (initial values)
//   counter  {block low, block high, row low, row high}; element e is lane e %
//   4
//            of block e / 4
//
// Header-only, no contraction of a * b + c: every user gets the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_PHILOX_H
#define WEFT_ABI_PHILOX_H

#include <stddef.h>
#include <stdint.h>

// Always inlined, so that a copy compiled for a wide instruction set cannot be
// picked by the linker for code that runs everywhere.
#ifdef __CUDACC__
#define WEFT_PHILOX_INLINE                                                     \
  static inline __host__ __device__ __attribute__((always_inline))
#else
#define WEFT_PHILOX_INLINE static inline __attribute__((always_inline))
#endif

namespace weft {

struct PhiloxKey {
  uint32_t low;
  uint32_t high;
};

struct PhiloxBlock {
  uint32_t lane[4];
};

/// A bijection on 64 bits (the finalizer of splitmix64, Steele et al. 2014).
WEFT_PHILOX_INLINE uint64_t philoxMix(uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

/// The key of a stream: for a fixed seed, streams never share a key.
WEFT_PHILOX_INLINE PhiloxKey philoxKey(uint64_t seed, uint64_t stream) {
  uint64_t key = philoxMix(philoxMix(seed) + stream);
  return {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
}

/// 64-bit FNV-1a of a parameter's name.
WEFT_PHILOX_INLINE uint64_t philoxNameHash(const char *name, size_t length) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x100000001B3u;
  return hash;
}

/// Rounds of Philox4x32 for each block.
enum { kPhiloxRounds = 10 };

/// One round on a counter.
WEFT_PHILOX_INLINE void philoxRound(PhiloxKey key, PhiloxBlock &counter) {
  uint32_t *c = counter.lane;
  uint64_t product0 = static_cast<uint64_t>(0xD2511F53u) * c[0];
  uint64_t product1 = static_cast<uint64_t>(0xCD9E8D57u) * c[2];
  c[0] = static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ key.low;
  c[2] = static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ key.high;
  c[1] = static_cast<uint32_t>(product1);
  c[3] = static_cast<uint32_t>(product0);
}

/// The key of the round that follows `key`.
WEFT_PHILOX_INLINE PhiloxKey philoxNextKey(PhiloxKey key) {
  return {key.low + 0x9E3779B9u, key.high + 0xBB67AE85u};
}

/// All rounds on one counter.
WEFT_PHILOX_INLINE PhiloxBlock philoxRounds(PhiloxKey key, uint32_t c0,
                                            uint32_t c1, uint32_t c2,
                                            uint32_t c3) {
  PhiloxBlock counter = {{c0, c1, c2, c3}};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    philoxRound(key, counter);
    key = philoxNextKey(key);
  }
  return counter;
}

/// The counter of elements 4 * block .. 4 * block + 3 of a row.
WEFT_PHILOX_INLINE PhiloxBlock philoxCounter(uint64_t row, uint64_t block) {
  return {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
           static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)}};
}

/// Elements 4 * block .. 4 * block + 3 of a row.
WEFT_PHILOX_INLINE PhiloxBlock philoxBlock(PhiloxKey key, uint64_t row,
                                           uint64_t block) {
  PhiloxBlock at = philoxCounter(row, block);
  return philoxRounds(key, at.lane[0], at.lane[1], at.lane[2], at.lane[3]);
}

/// The 32 random bits of one element.
WEFT_PHILOX_INLINE uint32_t philoxNumber(PhiloxKey key, uint64_t row,
                                         uint64_t element) {
  PhiloxBlock block = philoxBlock(key, row, element / 4);
  return block.lane[element % 4];
}

/// The upper 24 bits as a float in [0, 1).
WEFT_PHILOX_INLINE float philoxUnit(uint32_t number) {
  return static_cast<float>(static_cast<int32_t>(number >> 8)) * 0x1p-24f;
}

/// Dropout keeps an element when its upper 24 bits are not below this: p itself
/// rounded up to a multiple of 2^-24.
WEFT_PHILOX_INLINE uint32_t philoxDropThreshold(double p) {
  double scaled = p * 16777216.0;
  uint32_t threshold = static_cast<uint32_t>(scaled);
  return threshold < scaled ? threshold + 1 : threshold;
}
WEFT_PHILOX_INLINE bool philoxKeeps(uint32_t number, uint32_t threshold) {
  return (number >> 8) >= threshold;
}
/// The largest number that is dropped, for a threshold above 0.
WEFT_PHILOX_INLINE uint32_t philoxLastDropped(uint32_t threshold) {
  return (threshold << 8) - 1;
}
/// philoxKeeps with one comparison, where many numbers have one threshold.
WEFT_PHILOX_INLINE bool philoxKeepsAbove(uint32_t number,
                                         uint32_t lastDropped) {
  return number > lastDropped;
}

/// Factor of the kept elements; 0 when everything is dropped.
WEFT_PHILOX_INLINE float philoxKeepScale(double p) {
  return p < 1.0 ? static_cast<float>(1.0 / (1.0 - p)) : 0.0f;
}

//===----------------------------------------------------------------------===//
// Normal numbers: Box and Muller (1958)
//===----------------------------------------------------------------------===//
//
// Lanes (0, 1) and (2, 3) of a block are pairs. With u = (upper 24 bits of the
// first + 1) / 2^24 and v = upper 24 bits of the second / 2^24:
//   first = sqrt(-2 ln u) cos(2 pi v), second = sqrt(-2 ln u) sin(2 pi v).
// |normal| <= 5.77. Relative error of each factor below 3e-7.

/// ln u for u in (0, 1]: Cephes' logf (Moshier), u = m 2^e, m in [sqrt(1/2),
/// sqrt 2).
WEFT_PHILOX_INLINE float philoxLog(float u) {
  union {
    float value;
    int32_t bits;
  } pun = {u};
  int32_t exponent = (pun.bits - 0x3F3504F3) >> 23;
  pun.bits -= exponent * (1 << 23);
  float f = pun.value - 1.0f;
  float square = f * f;
  float poly = 7.0376836292e-2f;
  poly = poly * f + -1.1514610310e-1f;
  poly = poly * f + 1.1676998740e-1f;
  poly = poly * f + -1.2420140846e-1f;
  poly = poly * f + 1.4249322787e-1f;
  poly = poly * f + -1.6668057665e-1f;
  poly = poly * f + 2.0000714765e-1f;
  poly = poly * f + -2.4999993993e-1f;
  poly = poly * f + 3.3333331174e-1f;
  float e = static_cast<float>(exponent);
  float tail = poly * f * square + e * -2.12194440e-4f - 0.5f * square;
  return (f + tail) + e * 0.693359375f;
}

struct PhiloxNormalPair {
  float first;
  float second;
};

/// The two normal numbers of a pair of lanes.
WEFT_PHILOX_INLINE PhiloxNormalPair philoxNormalPair(uint32_t a, uint32_t b) {
  float u = static_cast<float>(static_cast<int32_t>(a >> 8) + 1) * 0x1p-24f;
  float radius = __builtin_sqrtf(-2.0f * philoxLog(u));
  // 2 pi v = quadrant * pi/2 + angle, |angle| <= pi/4; exact up to the angle.
  int32_t turn = static_cast<int32_t>(b >> 8);
  int32_t quadrant = (turn + (1 << 21)) >> 22;
  float angle = static_cast<float>(turn - (quadrant << 22)) *
                (1.57079632679489662f * 0x1p-22f);
  float z = angle * angle;
  // Cephes' sinf and cosf kernels on [-pi/4, pi/4].
  float sine =
      ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z + -1.6666654611e-1f) * z *
          angle +
      angle;
  float cosine = ((2.443315711809948e-5f * z + -1.388731625493765e-3f) * z +
                  4.166664568298827e-2f) *
                     z * z -
                 0.5f * z + 1.0f;
  bool swap = quadrant & 1;
  float c = swap ? sine : cosine;
  float s = swap ? cosine : sine;
  c = ((quadrant + 1) & 2) ? -c : c;
  s = (quadrant & 2) ? -s : s;
  return {radius * c, radius * s};
}

/// The standard normal number of one element.
WEFT_PHILOX_INLINE float philoxNormal(PhiloxKey key, uint64_t row,
                                      uint64_t element) {
  PhiloxBlock block = philoxBlock(key, row, element / 4);
  unsigned lane = element % 4;
  PhiloxNormalPair pair =
      philoxNormalPair(block.lane[lane & 2], block.lane[lane | 1]);
  return lane & 1 ? pair.second : pair.first;
}

} // namespace weft

#endif // WEFT_ABI_PHILOX_H
