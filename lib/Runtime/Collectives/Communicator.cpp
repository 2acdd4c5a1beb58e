//===- Communicator.cpp - Collectives over a transport --------------------===//

#include "weft/Runtime/Collectives/Communicator.h"

#include "weft/Runtime/Execute/Elements.h"

#include <algorithm>

using namespace weft;

double weft::choosePreDivide(int64_t ranks) {
  int64_t factor = 1;
  while (ranks % factor == 0 && ranks / factor > factor)
    factor *= 2;
  return double(factor);
}

Status Communicator::allGather(const void *slice, void *full, int64_t bytes,
                               std::string_view title) {
  std::vector<const char *> send(size_t(ranks()),
                                 static_cast<const char *>(slice));
  std::vector<char *> receive;
  for (int rank = 0; rank < ranks(); ++rank)
    receive.push_back(static_cast<char *>(full) + rank * bytes);
  return transport->exchange(send.data(), receive.data(), bytes, title);
}

//===----------------------------------------------------------------------===//
// reduceScatter
//===----------------------------------------------------------------------===//

/// Bytes that are on their way at once, in each direction.
static constexpr int64_t kStagingBytes = 1 << 19;

/// What one rank has, as it travels.
template <typename Element, typename Sum>
static void divide(const typename Element::Bits *from,
                   typename Element::Bits *to, int64_t count, double divisor) {
  const Sum by = Sum(divisor);
  for (int64_t i = 0; i < count; ++i)
    to[i] = Element::make(Sum(Element::number(from[i])) / by);
}

/// Elements of ranks 0, 1, ... in this order; `from` has `stride` of each.
template <typename Element, typename Sum>
static void addUp(const typename Element::Bits *from, int64_t stride, int ranks,
                  Sum *sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sums[i] = Sum(Element::number(from[i]));
  for (int rank = 1; rank < ranks; ++rank) {
    const typename Element::Bits *next = from + rank * stride;
    for (int64_t i = 0; i < count; ++i)
      sums[i] += Sum(Element::number(next[i]));
  }
}

template <typename Element, typename Sum>
Status Communicator::reduceParts(const void *full, void *slice,
                                 int64_t elements, double pre, double post,
                                 std::string_view title) {
  using Bits = typename Element::Bits;
  const auto *from = static_cast<const Bits *>(full);
  auto *to = static_cast<Bits *>(slice);
  const int64_t most =
      std::max<int64_t>(1, kStagingBytes / (int64_t(sizeof(Bits)) * ranks()));
  const int64_t part = std::min(most, std::max<int64_t>(elements, 1));
  std::vector<Bits> sent(size_t(part * ranks())), got(sent.size());
  std::vector<Sum> sums(part);
  std::vector<const char *> send;
  std::vector<char *> receive;
  for (int rank = 0; rank < ranks(); ++rank) {
    send.push_back(reinterpret_cast<char *>(&sent[size_t(rank * part)]));
    receive.push_back(reinterpret_cast<char *>(&got[size_t(rank * part)]));
  }
  for (int64_t begin = 0; begin < elements; begin += part) {
    const int64_t count = std::min(part, elements - begin);
    for (int rank = 0; rank < ranks(); ++rank)
      divide<Element, Sum>(from + rank * elements + begin,
                           &sent[size_t(rank * part)], count, pre);
    if (Status s = transport->exchange(send.data(), receive.data(),
                                       count * int64_t(sizeof(Bits)), title);
        !s)
      return s;
    addUp<Element, Sum>(got.data(), part, ranks(), sums.data(), count);
    for (int64_t i = 0; i < count; ++i)
      to[begin + i] = Element::make(sums[size_t(i)] / Sum(post));
  }
  return Status::success();
}

Status Communicator::reduceScatter(const void *full, void *slice,
                                   int64_t elements, int32_t dtype, double pre,
                                   double post, std::string_view title) {
  Status status =
      Error(ExitCode::Internal, std::string(title) +
                                    ": expects a floating-point type, "
                                    "but got dtype " +
                                    std::to_string(dtype));
  withElement(dtype, [&](auto element) {
    using E = decltype(element);
    if constexpr (E::isFloat) {
      using Sum =
          std::conditional_t<E::tensorType == TensorType::F64, double, float>;
      status = reduceParts<E, Sum>(full, slice, elements, pre, post, title);
    }
  });
  return status;
}
