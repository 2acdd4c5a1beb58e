//===- Order.h - Choice of the next thread to run ---------------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_ORDER_H
#define WEFT_TEST_EMULATION_ORDER_H

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::emulation {

/// Chooses by a seed. Seed 0 is the plain order: by number, each in turn.
class Order {
public:
  explicit Order(uint64_t seed = 0)
      : isPlainOrder(seed == 0), state(seed * 0x9e3779b97f4a7c15u + 1) {}

  bool isPlain() const { return isPlainOrder; }

  /// A number below `count`; 0 in plain order.
  uint32_t below(uint32_t count) {
    if (isPlainOrder || count < 2)
      return 0;
    return static_cast<uint32_t>((next() >> 32) * count >> 32);
  }

  template <typename T> void shuffle(std::vector<T> &items) {
    for (uint32_t i = 0; i < items.size(); ++i)
      std::swap(items[i], items[i + below(uint32_t(items.size()) - i)]);
  }

private:
  /// SplitMix64.
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  bool isPlainOrder;
  uint64_t state;
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_ORDER_H
