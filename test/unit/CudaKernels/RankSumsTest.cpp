//===- RankSumsTest.cpp - Reductions of CUDA devices and of CPU ranks -----===//
//
// The same gradient buffers go through the reduction of CUDA devices and
// through the reduction of CPU ranks, which are threads. Each rank's slices
// must have equal bits. NaN may have other bits: its payload depends on the
// machine.
//
//===----------------------------------------------------------------------===//

#include "../Collectives/TestNumbers.h"
#include "Emulated.h"
#include "weft/Abi/CollectiveRecords.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <thread>

using namespace weft;

namespace {

/// Where the fields of a floating-point type lie.
struct Fields {
  int mantissa, exponent; // bits

  static Fields of(int32_t dtype) {
    switch (dtype) {
    case WEFT_F32:
      return {23, 8};
    case WEFT_F64:
      return {52, 11};
    case WEFT_F16:
      return {10, 5};
    default: // WEFT_BF16
      return {7, 8};
    }
  }
  uint64_t sign() const { return 1ull << (mantissa + exponent); }
  uint64_t infinity() const { return ((1ull << exponent) - 1) << mantissa; }
  uint64_t one() const { return (infinity() >> 1) & infinity(); }
};

/// Zero, the ends of the subnormal, normal and finite numbers, infinity, a
/// quiet and a signalling NaN.
uint64_t drawSpecial(const Fields &fields, std::mt19937_64 &rng) {
  const uint64_t normal = 1ull << fields.mantissa, infinity = fields.infinity();
  const uint64_t specials[] = {0,
                               1,
                               normal - 1,
                               normal,
                               infinity - 1,
                               infinity - 1,
                               infinity,
                               infinity | normal >> 1,
                               infinity | 1};
  return specials[rng() % std::size(specials)] |
         (rng() % 2 ? fields.sign() : 0);
}

/// Within a factor of 256 of 1.
uint64_t drawUsual(const Fields &fields, std::mt19937_64 &rng) {
  const uint64_t low = fields.one() - (8ull << fields.mantissa);
  return (low + rng() % (16ull << fields.mantissa)) |
         (rng() % 2 ? fields.sign() : 0);
}

/// The buffer of each rank. In a quarter of the elements all ranks have special
/// numbers, so that these meet each other.
template <typename T>
std::vector<std::vector<T>>
drawBuffers(int32_t dtype, int ranks, int64_t elements, std::mt19937_64 &rng) {
  const Fields fields = Fields::of(dtype);
  std::vector<std::vector<T>> buffers(ranks, std::vector<T>(ranks * elements));
  for (int64_t i = 0; i < ranks * elements; ++i) {
    const bool isSpecial = rng() % 4 == 0;
    for (std::vector<T> &buffer : buffers) {
      const uint64_t bits = isSpecial        ? drawSpecial(fields, rng)
                            : rng() % 8 == 0 ? rng() // any pattern
                                             : drawUsual(fields, rng);
      std::memcpy(&buffer[i], &bits, sizeof(T));
    }
  }
  return buffers;
}

/// The slice of each rank as threads of the CPU reduce it.
template <typename T>
std::vector<std::vector<T>>
reduceOnCpu(const std::vector<std::vector<T>> &buffers, int32_t dtype,
            int64_t elements, const Divisors &by) {
  std::vector<std::vector<T>> slices(buffers.size(), std::vector<T>(elements));
  std::vector<std::thread> threads;
  for (std::unique_ptr<Transport> &one : connectLoopback(int(buffers.size())))
    threads.emplace_back([&, mine = std::move(one)]() mutable {
      const int rank = mine->rank();
      Communicator group(std::move(mine));
      EXPECT_TRUE(reduceScatter(group, buffers[rank].data(),
                                slices[rank].data(), elements, dtype, by));
    });
  for (std::thread &thread : threads)
    thread.join();
  return slices;
}

/// The slice of a rank as the device reduces it; its peers' slices arrive where
/// the exchange writes.
template <typename T>
std::vector<T> reduceOnDevice(const std::vector<std::vector<T>> &buffers,
                              int rank, int32_t dtype, int64_t elements,
                              const Divisors &by) {
  const int64_t ranks = int64_t(buffers.size());
  Guarded<T> full(buffers[rank], 0), slice(elements), staged(ranks * elements);
  setExchange(
      [&](const DeviceExchange &exchange) {
        EXPECT_EQ(exchange.receive, staged.data());
        for (int64_t peer = 0; peer < ranks; ++peer)
          staged.write(peer * elements, buffers[peer].data() + rank * elements,
                       elements);
      },
      rank);
  const WeftReduceScatterRecord record = {{0, ranks, 4}, dtype,   elements,
                                          by.pre,        by.post, /*native=*/0};
  TestContext context(1);
  callWith(context, weft_cuda_reduce_scatter,
           {full.data(), slice.data(), staged.data()},
           cudaReduceScatterBytes(record), RecordBytes(record), WEFT_EXTENSION);
  setExchange(nullptr, 0);
  EXPECT_FALSE(context.failed()) << context.message();
  return slice.take();
}

/// How many results of each kind a test has compared.
struct Seen {
  int64_t nan = 0, infinite = 0, subnormal = 0;

  void add(double value, int32_t dtype) {
    const Fields fields = Fields::of(dtype);
    const double least = std::ldexp(1.0, 2 - (1 << (fields.exponent - 1)));
    nan += std::isnan(value);
    infinite += std::isinf(value);
    subnormal += value != 0 && std::fabs(value) < least;
  }
};

template <typename T>
void compareSlices(const std::vector<T> &got, const std::vector<T> &want,
                   int32_t dtype, Seen &seen) {
  for (size_t i = 0; i < want.size(); ++i) {
    const double value =
        numberAt(dtype, reinterpret_cast<const char *>(&want[i]));
    seen.add(value, dtype);
    const bool areNan =
        std::isnan(value) &&
        std::isnan(numberAt(dtype, reinterpret_cast<const char *>(&got[i])));
    if (!areNan && std::memcmp(&got[i], &want[i], sizeof(T)) != 0)
      FAIL() << "element " << i;
  }
}

template <typename T>
void checkReduction(int32_t dtype, int ranks, int64_t elements,
                    const Divisors &by, Seen &seen) {
  SCOPED_TRACE(std::string(dtypeName(dtype)) + ", " + std::to_string(ranks) +
               " ranks, " + std::to_string(elements) + " elements, by " +
               std::to_string(by.pre) + " and " + std::to_string(by.post));
  std::mt19937_64 rng(uint64_t(ranks) * 1000003 + elements);
  const auto buffers = drawBuffers<T>(dtype, ranks, elements, rng);
  const auto slices = reduceOnCpu(buffers, dtype, elements, by);
  for (int rank = 0; rank < ranks; ++rank)
    compareSlices(reduceOnDevice(buffers, rank, dtype, elements, by),
                  slices[rank], dtype, seen);
}

/// The pair that the compiler makes, the ends of it, and odd ones.
std::vector<Divisors> divisorsFor(int ranks) {
  return {{1, 1},
          Divisors::ofMean(ranks),
          {double(ranks), 1},
          {1, double(ranks)},
          {3, 1},
          {3, 7},
          {4, 0.5},
          {std::sqrt(double(ranks)), std::sqrt(double(ranks))}};
}

template <typename T> void checkReductions(int32_t dtype) {
  Seen seen;
  for (int ranks = 1; ranks <= 6; ++ranks)
    for (const Divisors &by : divisorsFor(ranks))
      for (int64_t elements : {1, 7, 255, 257})
        checkReduction<T>(dtype, ranks, elements, by, seen);
  // More than a block of the CPU's sum and than a launch's threads.
  checkReduction<T>(dtype, 3, 10007, Divisors::ofMean(3), seen);
  EXPECT_GT(seen.nan, 100);
  EXPECT_GT(seen.infinite, 100);
  EXPECT_GT(seen.subnormal, 100);
}

TEST(RankSums, F32HasTheBitsOfCpuRanks) { checkReductions<float>(WEFT_F32); }
TEST(RankSums, F64HasTheBitsOfCpuRanks) { checkReductions<double>(WEFT_F64); }
TEST(RankSums, F16HasTheBitsOfCpuRanks) { checkReductions<uint16_t>(WEFT_F16); }
TEST(RankSums, Bf16HasTheBitsOfCpuRanks) {
  checkReductions<uint16_t>(WEFT_BF16);
}

} // namespace
