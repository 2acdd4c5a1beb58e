//===- RandomLoops.cpp - Philox numbers for runs of elements --------------===//

#include "ElementLoops.h"
#include "PhiloxVectors.h"

namespace weft {
namespace WEFT_ISA {
namespace {

/// Blocks of one row made together: enough for the vectoriser.
constexpr int64_t kBlocks = 64;

/// Numbers of blocks first .. first + count - 1 (count <= kBlocks) of a row,
/// lane by lane: numbers[lane][block].
WEFT_INLINE void fillLanes(PhiloxKey key, uint64_t row, uint64_t first,
                           int64_t count, uint32_t numbers[4][kBlocks]) {
  uint32_t low = static_cast<uint32_t>(first);
  uint32_t high = static_cast<uint32_t>(first >> 32);
  uint32_t rowLow = static_cast<uint32_t>(row);
  uint32_t rowHigh = static_cast<uint32_t>(row >> 32);
  for (int64_t b = 0; b < count; ++b) {
    uint32_t at = low + static_cast<uint32_t>(b);
    PhiloxBlock block =
        philoxRounds(key, at, high + (at < low ? 1 : 0), rowLow, rowHigh);
    for (int lane = 0; lane < 4; ++lane)
      numbers[lane][b] = block.lane[lane];
  }
}

/// Walks elements [begin, end) in runs of blocks: body(element of
/// numbers[0][0], first and last element of the run, numbers).
template <typename Body>
WEFT_INLINE void forEachRun(PhiloxKey key, uint64_t row, int64_t begin,
                            int64_t end, Body body) {
  uint32_t numbers[4][kBlocks];
  for (int64_t block = begin / 4; block * 4 < end; block += kBlocks) {
    int64_t last = block * 4 + 4 * kBlocks;
    last = last < end ? last : end;
    fillLanes(key, row, static_cast<uint64_t>(block),
              (last - block * 4 + 3) / 4, numbers);
    int64_t first = block * 4 > begin ? block * 4 : begin;
    body(block * 4, first, last, numbers);
  }
}

} // namespace

void normals(uint32_t keyLow, uint32_t keyHigh, int64_t begin, int64_t end,
             float mean, float stddev, float *out) {
  float made[4][kBlocks];
  forEachRun({keyLow, keyHigh}, 0, begin, end,
             [&](int64_t origin, int64_t first, int64_t last,
                 uint32_t numbers[4][kBlocks]) {
               int64_t blocks = (last - origin + 3) / 4;
               for (int lane = 0; lane < 4; lane += 2)
                 for (int64_t b = 0; b < blocks; ++b) {
                   PhiloxNormalPair pair =
                       philoxNormalPair(numbers[lane][b], numbers[lane + 1][b]);
                   made[lane][b] = mean + stddev * pair.first;
                   made[lane + 1][b] = mean + stddev * pair.second;
                 }
               for (int64_t e = first; e < last; ++e)
                 out[e - begin] = made[e % 4][(e - origin) / 4];
             });
}

void uniforms(uint32_t keyLow, uint32_t keyHigh, int64_t begin, int64_t end,
              float low, float width, float *out) {
  forEachRun({keyLow, keyHigh}, 0, begin, end,
             [&](int64_t origin, int64_t first, int64_t last,
                 uint32_t numbers[4][kBlocks]) {
               for (int64_t e = first; e < last; ++e)
                 out[e - begin] =
                     low + width * philoxUnit(numbers[e % 4][(e - origin) / 4]);
             });
}

void dropout(uint32_t keyLow, uint32_t keyHigh, uint64_t row, int64_t begin,
             int64_t end, uint32_t threshold, float scale, const float *x,
             float *out) {
  PhiloxKey key = {keyLow, keyHigh};
  IntVec numbers[4];
  int64_t e = begin;
  // Runs of whole blocks, vector by vector; what lies before and behind them,
  // one element at a time.
  auto dropOne = [&](int64_t element, uint32_t number) {
    float value = x[element - begin] * scale;
    out[element - begin] = philoxKeeps(number, threshold) ? value : 0.0f;
  };
  for (; e < end && e % 4 != 0; ++e)
    dropOne(e, philoxNumber(key, row, static_cast<uint64_t>(e)));
  for (; end - e >= 4 * kPhiloxBlocks; e += 4 * kPhiloxBlocks) {
    philoxVectors(key, row, static_cast<uint64_t>(e / 4), numbers);
    for (int i = 0; i < 4; ++i) {
      Vec value = load(x + (e - begin) + i * kLanes) * splat(scale);
      store(out + (e - begin) + i * kLanes,
            keepOrZero(numbers[i], threshold, value));
    }
  }
  if (e == end)
    return;
  philoxVectors(key, row, static_cast<uint64_t>(e / 4), numbers);
  for (int64_t i = 0; i < end - e; ++i)
    dropOne(e + i, static_cast<uint32_t>(numbers[i / kLanes][i % kLanes]));
}

} // namespace WEFT_ISA
} // namespace weft
