//===- NcclSums.cpp - Reductions of the emulated NCCL ---------------------===//
//
// Elements are dealt to channels in chunks. Each channel is a ring of ranks,
// every second one the other way round, and the rank at which the sums of a
// chunk begin moves on from chunk to chunk. The sum is rounded to the type of
// the elements at every rank.
//
//===----------------------------------------------------------------------===//

#include "NcclObjects.h"
#include "weft/Formats/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace weft::emulation {

namespace {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T> struct Plain {
  using Value = T;
  using Bits = T;
  static T load(T bits) { return bits; }
  static T store(T value) { return value; }
};
struct Half {
  using Value = float;
  using Bits = uint16_t;
  static float load(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t store(float value) { return floatToHalf(value); }
};
struct Bf16 {
  using Value = float;
  using Bits = uint16_t;
  static float load(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t store(float value) { return floatToBf16(value); }
};

/// Integers wrap around.
template <typename T> T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <typename T> T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
template <typename T> T larger(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return std::max(a, b);
  else
    return std::fmax(a, b);
}
template <typename T> T smaller(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return std::min(a, b);
  else
    return std::fmin(a, b);
}

template <typename T> T apply(ncclRedOp_t op, T a, T b) {
  switch (op) {
  case ncclProd:
    return multiply(a, b);
  case ncclMax:
    return larger(a, b);
  case ncclMin:
    return smaller(a, b);
  default:
    return add(a, b);
  }
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Everything but the elements that the sums of an operation depend on.
struct Rings {
  size_t size, channels, chunk; // elements of a chunk
  ncclRedOp_t op;
};

constexpr size_t kSmallestChunk = 256, kLargestChunk = 64 << 10;

/// Small operations have small chunks: each channel gets some.
size_t chunkBytes(size_t bytes, size_t channels) {
  const size_t share = bytes / (4 * channels);
  const size_t rounded =
      (share + kSmallestChunk - 1) / kSmallestChunk * kSmallestChunk;
  return std::clamp(rounded, kSmallestChunk, kLargestChunk);
}

/// The ranks in the order in which the elements of a chunk are added.
std::vector<size_t> orderOf(const Rings &rings, size_t chunk) {
  const size_t channel = chunk % rings.channels;
  const size_t turn = chunk / rings.channels;
  const size_t step = channel % 2 == 0 ? 1 : rings.size - 1;
  std::vector<size_t> order;
  for (size_t hop = 0; hop < rings.size; ++hop)
    order.push_back((2 * channel + turn + hop * step) % rings.size);
  return order;
}

template <typename Element>
typename Element::Bits
reduceOne(const Rings &rings, const std::vector<size_t> &order,
          const std::vector<const char *> &inputs, size_t at) {
  using Bits = typename Element::Bits;
  using Value = typename Element::Value;
  constexpr bool isFloat = std::is_floating_point_v<Value>;
  const bool isAverage = rings.op == ncclAvg;
  const auto size = static_cast<Value>(rings.size);
  Bits sum = {};
  for (size_t hop = 0; hop < order.size(); ++hop) {
    Bits bits;
    std::memcpy(&bits, inputs[order[hop]] + at * sizeof(bits), sizeof(bits));
    if constexpr (isFloat)
      if (isAverage)
        bits = Element::store(Element::load(bits) * (Value(1) / size));
    sum = hop == 0 ? bits
                   : Element::store(apply<Value>(rings.op, Element::load(sum),
                                                 Element::load(bits)));
  }
  if constexpr (!isFloat)
    if (isAverage)
      sum = static_cast<Bits>(sum / size);
  return sum;
}

template <typename Element>
void reduceAll(const Rings &rings, const std::vector<const char *> &inputs,
               void *result, size_t first, size_t count) {
  using Bits = typename Element::Bits;
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || (first + i) % rings.chunk == 0)
      order = orderOf(rings, (first + i) / rings.chunk);
    const Bits sum = reduceOne<Element>(rings, order, inputs, i);
    std::memcpy(static_cast<char *>(result) + i * sizeof(sum), &sum,
                sizeof(sum));
  }
}

} // namespace

void reduce(const Operation &operation, int channels,
            const std::vector<const char *> &inputs, void *result, size_t first,
            size_t count, size_t total) {
  const size_t bytes = bytesOf(operation.type);
  const auto numChannels = static_cast<size_t>(channels);
  const Rings rings = {inputs.size(), numChannels,
                       chunkBytes(total * bytes, numChannels) / bytes,
                       operation.op};
  auto run = [&](auto element) {
    reduceAll<decltype(element)>(rings, inputs, result, first, count);
  };
  switch (operation.type) {
  case ncclInt8:
    return run(Plain<int8_t>());
  case ncclUint8:
    return run(Plain<uint8_t>());
  case ncclInt32:
    return run(Plain<int32_t>());
  case ncclUint32:
    return run(Plain<uint32_t>());
  case ncclInt64:
    return run(Plain<int64_t>());
  case ncclUint64:
    return run(Plain<uint64_t>());
  case ncclFloat16:
    return run(Half());
  case ncclBfloat16:
    return run(Bf16());
  case ncclFloat64:
    return run(Plain<double>());
  default:
    return run(Plain<float>());
  }
}

} // namespace weft::emulation
