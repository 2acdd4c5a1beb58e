//===- NcclSums.cpp - Reductions of the emulated NCCL ---------------------===//
//
// Elements are dealt to channels in chunks. Each channel is a ring of ranks,
// every second one the other way round, and the rank at which the sums of a
// chunk begin moves on from chunk to chunk. The sum is rounded to the type of
// the elements at every rank.
//
// NCCL_ALGO and NCCL_PROTO choose as NCCL's do: `ring` or `reducescatter:ring`
// is this ring; without them small operations are added in halves, as a tree
// is. Protocols other than `simple` have chunks of half the size.
//
//===----------------------------------------------------------------------===//

#include "NcclObjects.h"
#include "weft/Base/Half.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
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
  bool isTree;
};

/// The list of NCCL_ALGO or NCCL_PROTO for an operation: its own, or the list
/// for all; "" for none.
std::string choiceOf(const char *variable, const std::string &prefix) {
  const char *text = std::getenv(variable);
  std::string ofAll, own;
  std::stringstream lists(text ? text : "");
  for (std::string list; std::getline(lists, list, ';');) {
    const size_t colon = list.find(':');
    if (colon == std::string::npos)
      ofAll = list;
    else if (list.substr(0, colon) == prefix)
      own = list.substr(colon + 1);
  }
  return own.empty() ? ofAll : own;
}

/// Below it an operation is added as a tree, unless NCCL_ALGO says otherwise.
constexpr size_t kSmallBytes = 64 << 10;

bool isTree(const std::string &prefix, size_t bytes) {
  const std::string algorithm = choiceOf("NCCL_ALGO", prefix);
  if (algorithm.empty())
    return bytes < kSmallBytes;
  return algorithm != "ring" && algorithm != "Ring";
}

constexpr size_t kSmallestChunk = 256, kLargestChunk = 64 << 10;

/// Small operations have small chunks: each channel gets some.
size_t chunkBytes(size_t bytes, size_t channels) {
  const size_t share = bytes / (4 * channels);
  const size_t rounded =
      (share + kSmallestChunk - 1) / kSmallestChunk * kSmallestChunk;
  return std::clamp(rounded, kSmallestChunk, kLargestChunk);
}

/// The ranks in the order in which the elements of a chunk are added. A tree
/// adds the ranks of odd numbers last.
std::vector<size_t> orderOf(const Rings &rings, size_t chunk) {
  if (rings.isTree) {
    std::vector<size_t> order;
    for (size_t first : {0, 1})
      for (size_t rank = first; rank < rings.size; rank += 2)
        order.push_back(rank);
    return order;
  }
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
  const std::string prefix =
      operation.kind == Kind::ReduceScatter ? "reducescatter" : "allreduce";
  const std::string protocol = choiceOf("NCCL_PROTO", prefix);
  const bool isSimple =
      protocol.empty() || protocol == "simple" || protocol == "Simple";
  const size_t chunk = chunkBytes(total * bytes, numChannels);
  const Rings rings = {inputs.size(), numChannels,
                       (isSimple ? chunk : chunk / 2) / bytes, operation.op,
                       isTree(prefix, total * bytes)};
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
