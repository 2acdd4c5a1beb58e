//===- Communicator.cpp - Collectives over a transport --------------------===//

#include "weft/Runtime/Collectives/Communicator.h"

#include "weft/Abi/Executable.h"
#include "weft/Base/Half.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

using namespace weft;

/// An all-reduce of at most so many bytes is sent whole to every rank: one
/// exchange instead of two, and every rank sums all elements.
static constexpr int64_t kSmallBytes = 2048;

/// Maximum bytes of the caller's title, before the communicator's suffix.
static constexpr int kGivenTitleBytes = 90;

/// A running collective: its title and the counter that it updates.
class Communicator::Call {
public:
  Call(Communicator &owner, Collective kind, std::string_view given,
       const std::string &what)
      : count(owner.counts[int(kind)]),
        title(std::string(given.substr(0, kGivenTitleBytes)) + " (collective " +
              std::to_string(++owner.calls) + ", " + what + ")"),
        isSkipped(kind != Collective::Numbers && owner.skips && owner.skips()),
        begin(std::chrono::steady_clock::now()) {
    ++count.calls;
    if (kind != Collective::Numbers && owner.delay.count() > 0)
      std::this_thread::sleep_for(owner.delay);
  }
  ~Call() {
    count.nanoseconds +=
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin)
            .count();
  }
  CollectiveCount &count;
  const std::string title;
  const bool isSkipped;

private:
  const std::chrono::steady_clock::time_point begin;
};

Communicator::Communicator(std::unique_ptr<Transport> connection,
                           int64_t stagingBytes)
    : transport(std::move(connection)), stagingBytes(stagingBytes),
      send(size_t(ranks())), receive(size_t(ranks())) {}

/// Elements of one rank's piece, so that all ranks' pieces fill the staging
/// buffer.
int64_t Communicator::chunkElements(int64_t elementBytes) const {
  const int64_t fitting = stagingBytes / (ranks() * elementBytes);
  return std::max<int64_t>(fitting & ~int64_t(15), 1);
}

char *Communicator::staged(int peer, int64_t bytes) {
  if (int64_t(staging.size()) < bytes * ranks())
    staging.resize(size_t(bytes * ranks()));
  return staging.data() + peer * bytes;
}

Status Communicator::exchange(int64_t bytes, const Call &call) {
  if (call.isSkipped)
    return Status::success();
  call.count.bytes += bytes * (ranks() - 1);
  return transport->exchange(send.data(), receive.data(), bytes, call.title);
}

static Status checkSize(int64_t size, std::string_view title) {
  if (size < 0)
    return internalError(title, ": expects a size of 0 or more, but got ",
                         size);
  return Status::success();
}

Status Communicator::checkSum(int64_t elements, int32_t dtype,
                              std::string_view title) {
  if (!canSum(dtype))
    return internalError(
        title, ": expects a floating-point type, but got dtype ", dtype);
  return checkSize(elements, title);
}

static std::string textOf(int64_t elements, int32_t dtype, double pre,
                          double post) {
  return std::to_string(elements) + " " + dtypeName(dtype) + " by " +
         numberText(pre) + " and " + numberText(post);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The piece of rank r starts at byte r * stride of `full`.
Status Communicator::gatherBlock(const char *slice, char *full, int64_t stride,
                                 int64_t bytes, const Call &call) {
  for (int peer = 0; peer < ranks(); ++peer) {
    send[size_t(peer)] = slice;
    receive[size_t(peer)] = full + peer * stride;
  }
  return exchange(bytes, call);
}

/// `slice` = the sum of this rank's piece over all ranks. The piece of rank r
/// starts at byte r * stride of `full`. This rank's own piece is not staged.
Status Communicator::reduceBlock(const char *full, int64_t stride, void *slice,
                                 int64_t elements, const Sum &sum,
                                 const Call &call) {
  const int64_t bytes = elements * sum.elementBytes;
  for (int peer = 0; peer < ranks(); ++peer) {
    send[size_t(peer)] = full + peer * stride;
    receive[size_t(peer)] = staged(peer, bytes);
  }
  const size_t own = size_t(rank());
  receive[own] = const_cast<char *>(send[own]);
  if (Status s = exchange(bytes, call); !s)
    return s;
  sumPieces(sum.dtype, reinterpret_cast<const void *const *>(receive.data()),
            ranks(), elements, slice, sum.pre, sum.post);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

Status Communicator::allGather(const void *slice, void *full, int64_t bytes,
                               std::string_view title, Collective kind) {
  if (Status s = checkSize(bytes, title); !s)
    return s;
  const Call call(*this, kind, title, std::to_string(bytes) + " bytes");
  int64_t begin = 0;
  do {
    const int64_t chunk = std::min(stagingBytes, bytes - begin);
    if (Status s =
            gatherBlock(static_cast<const char *>(slice) + begin,
                        static_cast<char *>(full) + begin, bytes, chunk, call);
        !s)
      return s;
    begin += chunk;
  } while (begin < bytes);
  return Status::success();
}

Status Communicator::reduceScatter(const void *full, void *slice,
                                   int64_t elements, int32_t dtype, double pre,
                                   double post, std::string_view title) {
  if (Status s = checkSum(elements, dtype, title); !s)
    return s;
  const Call call(*this, Collective::ReduceScatter, title,
                  "slices of " + textOf(elements, dtype, pre, post));
  const int64_t size = dtypeBytes(dtype), most = chunkElements(size);
  int64_t begin = 0;
  do {
    const int64_t chunk = std::min(most, elements - begin);
    if (Status s = reduceBlock(static_cast<const char *>(full) + begin * size,
                               elements * size,
                               static_cast<char *>(slice) + begin * size, chunk,
                               {dtype, size, pre, post}, call);
        !s)
      return s;
    begin += chunk;
  } while (begin < elements);
  return Status::success();
}

/// Reduces and gathers in place, in blocks of one piece per rank. The remainder
/// is too small for that: every rank sums all of it (stride 0).
Status Communicator::allReduce(void *data, int64_t elements, int32_t dtype,
                               double pre, double post,
                               std::string_view title) {
  if (Status s = checkSum(elements, dtype, title); !s)
    return s;
  const Call call(*this, Collective::AllReduce, title,
                  textOf(elements, dtype, pre, post));
  const Sum sum = {dtype, dtypeBytes(dtype), pre, post};
  const int64_t size = sum.elementBytes, most = chunkElements(size);
  const int64_t small = std::max<int64_t>(
      ranks() - 1, std::min(kSmallBytes, stagingBytes / ranks()) / size);
  char *at = static_cast<char *>(data);
  while (elements > small) {
    const int64_t piece = std::min(most, elements / ranks());
    const int64_t bytes = piece * size;
    char *own = at + rank() * bytes;
    if (Status s = reduceBlock(at, bytes, own, piece, sum, call); !s)
      return s;
    if (Status s = gatherBlock(own, at, bytes, bytes, call); !s)
      return s;
    at += ranks() * bytes;
    elements -= ranks() * piece;
  }
  if (elements == 0)
    return Status::success();
  return reduceBlock(at, /*stride=*/0, at, elements, sum, call);
}

//===- Sums ---------------------------------------------------------------===//

namespace {

/// The storage type (Bits) and the arithmetic type (Number) of an element.
/// rounded() rounds a number to the element type. roundedPart() does so for an
/// element that was divided by a power of two.
template <typename T> struct Wide {
  using Bits = T;
  using Number = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
  static T rounded(T value) { return value; }
  static T roundedPart(T value) { return value; }
};
struct F16 {
  using Bits = uint16_t;
  using Number = float;
  static float load(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t store(float value) { return floatToHalf(value); }
  static float rounded(float value) { return load(store(value)); }
  /// Only bits below the smallest normal half can be lost, four times as fast:
  /// where one unit in the last place is 2^-24, an addition rounds.
  static float roundedPart(float value) {
    const float size = std::fabs(value);
    const float low = std::copysign((size + 0.5f) - 0.5f, value);
    return size < 6.103515625e-05f ? low : value;
  }
};
struct BF16 {
  using Bits = uint16_t;
  using Number = float;
  static float load(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t store(float value) { return floatToBf16(value); }
  static float rounded(float value) { return load(store(value)); }
  static float roundedPart(float value) { return rounded(value); }
};

/// Elements whose sums stay in the L1 cache while all pieces are added.
constexpr int kBlock = 1024;

/// Division by 1 keeps all bits, so that it is left out.
enum class Division { None, ByPowerOfTwo, Any };

template <typename Number> Division divisionBy(Number pre) {
  int exponent;
  if (pre == 1)
    return Division::None;
  return pre > 1 && std::frexp(pre, &exponent) == Number(0.5)
             ? Division::ByPowerOfTwo
             : Division::Any;
}

/// sum[i] = or += piece[i] / pre.
template <typename Type, bool isFirst, Division division>
void addPiece(const typename Type::Bits *piece, typename Type::Number *sum,
              int count, typename Type::Number pre) {
  for (int i = 0; i < count; ++i) {
    typename Type::Number value = Type::load(piece[i]);
    if constexpr (division == Division::ByPowerOfTwo)
      value = Type::roundedPart(value / pre);
    else if constexpr (division == Division::Any)
      value = Type::rounded(value / pre);
    sum[i] = isFirst ? value : sum[i] + value;
  }
}

template <typename Type, bool isFirst>
void addPiece(const typename Type::Bits *piece, typename Type::Number *sum,
              int count, typename Type::Number pre) {
  switch (divisionBy(pre)) {
  case Division::None:
    return addPiece<Type, isFirst, Division::None>(piece, sum, count, pre);
  case Division::ByPowerOfTwo:
    return addPiece<Type, isFirst, Division::ByPowerOfTwo>(piece, sum, count,
                                                           pre);
  case Division::Any:
    return addPiece<Type, isFirst, Division::Any>(piece, sum, count, pre);
  }
}

template <typename Type>
void sumAll(const void *const *pieces, int ranks, int64_t elements, void *out,
            double preNumber, double postNumber) {
  using Bits = typename Type::Bits;
  using Number = typename Type::Number;
  const Number pre = Number(preNumber), post = Number(postNumber);
  Number sum[kBlock];
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int count = int(std::min<int64_t>(kBlock, elements - begin));
    for (int rank = 0; rank < ranks; ++rank) {
      const Bits *piece = static_cast<const Bits *>(pieces[rank]) + begin;
      if (rank == 0)
        addPiece<Type, true>(piece, sum, count, pre);
      else
        addPiece<Type, false>(piece, sum, count, pre);
    }
    Bits *result = static_cast<Bits *>(out) + begin;
    if (post == 1)
      for (int i = 0; i < count; ++i)
        result[i] = Type::store(sum[i]);
    else
      for (int i = 0; i < count; ++i)
        result[i] = Type::store(sum[i] / post);
  }
}

using SumAll = void(const void *const *, int, int64_t, void *, double, double);

/// The sum over numbers of a WeftDType; null if there is none.
SumAll *findSum(int32_t dtype) {
  switch (dtype) {
  case WEFT_F32:
    return sumAll<Wide<float>>;
  case WEFT_F64:
    return sumAll<Wide<double>>;
  case WEFT_F16:
    return sumAll<F16>;
  case WEFT_BF16:
    return sumAll<BF16>;
  default:
    return nullptr;
  }
}

} // namespace

bool weft::canSum(int32_t dtype) { return findSum(dtype) != nullptr; }

void weft::sumPieces(int32_t dtype, const void *const *pieces, int count,
                     int64_t elements, void *out, double pre, double post) {
  findSum(dtype)(pieces, count, elements, out, pre, post);
}
