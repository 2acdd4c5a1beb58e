//===- RankCommandsTest.cpp - Collectives of CUDA devices -----------------===//

#include "Emulated.h"
#include "KernelArguments.h"
#include "weft/Abi/CollectiveRecords.h"
#include "weft/Base/Half.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Devices/Launch.h"

#include <cmath>
#include <deque>
#include <random>

using namespace weft;

namespace {

constexpr int kRank = 1;

/// While it lives, a test stands for the peers of an exchange.
class Peers {
public:
  explicit Peers(std::function<void(const DeviceExchange &)> exchange) {
    setExchange(std::move(exchange), kRank);
  }
  ~Peers() { setExchange(nullptr, 0); }
};

void call(const char *name, WeftLibraryFn routine,
          const std::vector<const void *> &buffers, int64_t workspaceBytes,
          const RecordBytes &record) {
  TestContext context(1);
  callWith(context, routine, buffers, workspaceBytes, record, WEFT_EXTENSION);
  ASSERT_FALSE(context.failed()) << name << ": " << context.message();
}

/// Numbers of every size, both zeros, infinities; of 16 bits all patterns but
/// NaN are possible.
template <typename T> std::vector<T> drawBits(int64_t count, std::mt19937 &rng);
template <> std::vector<float> drawBits(int64_t count, std::mt19937 &rng) {
  std::vector<float> all;
  while (int64_t(all.size()) < count) {
    float value = std::ldexp(float(int(rng() % 2001) - 1000) / 700.0f,
                             int(rng() % 200) - 120);
    all.push_back(rng() % 50 == 0 ? INFINITY : value);
  }
  return all;
}
template <> std::vector<double> drawBits(int64_t count, std::mt19937 &rng) {
  std::vector<double> all;
  for (float value : drawBits<float>(count, rng))
    all.push_back(double(value) * 1.00000000007);
  return all;
}
template <> std::vector<uint16_t> drawBits(int64_t count, std::mt19937 &rng) {
  std::vector<uint16_t> all;
  while (int64_t(all.size()) < count)
    if (uint16_t bits = uint16_t(rng()); (bits & 0x7c00) != 0x7c00)
      all.push_back(bits);
  return all;
}

bool isNan(float value, int32_t) { return std::isnan(value); }
bool isNan(double value, int32_t) { return std::isnan(value); }
bool isNan(uint16_t bits, int32_t dtype) {
  return std::isnan(dtype == WEFT_F16 ? halfToFloat(bits) : bf16ToFloat(bits));
}

/// inf - inf is NaN on both, whose bits may differ.
template <typename T>
void expectSame(const std::vector<T> &got, const std::vector<T> &want,
                int32_t dtype, const std::string &what) {
  for (size_t i = 0; i < want.size(); ++i)
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0 &&
        !(isNan(got[i], dtype) && isNan(want[i], dtype)))
      FAIL() << what << ", element " << i;
}

/// The sum of the slices of all ranks as the device makes it, and as CPU ranks
/// make it.
template <typename T>
void checkSum(int32_t dtype, int64_t ranks, int64_t elements, double pre,
              double post, std::mt19937 &rng) {
  std::vector<T> slices = drawBits<T>(ranks * elements, rng), want(elements);
  std::vector<const void *> pieces;
  for (int64_t rank = 0; rank < ranks; ++rank)
    pieces.push_back(slices.data() + rank * elements);
  sumPieces(dtype, pieces.data(), int(ranks), elements, want.data(), pre, post);

  Guarded<T> full(slices, 0), slice(elements, 1), staged(ranks * elements);
  Peers peers([&](const DeviceExchange &exchange) {
    EXPECT_EQ(exchange.send, full.data());
    EXPECT_EQ(exchange.stride, elements * int64_t(sizeof(T)));
    EXPECT_EQ(exchange.bytes, exchange.stride);
    EXPECT_EQ(exchange.receive, staged.data());
    staged.write(0, slices.data(), slices.size());
  });
  const WeftReduceScatterRecord record = {{0, ranks, 4}, dtype, elements,
                                          pre,           post,  /*native=*/1};
  call("reduce_scatter", weft_cuda_reduce_scatter,
       {full.data(), slice.data(), staged.data()},
       cudaReduceScatterBytes(record), RecordBytes(record));
  expectSame(slice.take(), want, dtype,
             "dtype " + std::to_string(dtype) + ", " + std::to_string(ranks) +
                 " ranks, " + std::to_string(elements) + " elements, by " +
                 std::to_string(pre) + " and " + std::to_string(post));
}

/// Elements divided and rounded.
template <typename T>
std::vector<T> divided(const std::vector<T> &elements, int32_t dtype,
                       double divisor) {
  std::vector<T> out(elements.size());
  const void *piece = elements.data();
  sumPieces(dtype, &piece, 1, int64_t(elements.size()), out.data(), divisor, 1);
  return out;
}

/// The library gets all slices divided by `pre`; its sum is divided by `post`.
template <typename T>
void checkNative(int32_t dtype, double pre, double post, std::mt19937 &rng) {
  constexpr int64_t ranks = 3, elements = 257;
  const std::vector<T> all = drawBits<T>(ranks * elements, rng),
                       sums = drawBits<T>(elements, rng);
  Guarded<T> full(all, 0), slice(elements, 1), work(ranks * elements);
  const std::string what = "dtype " + std::to_string(dtype) + ", by " +
                           std::to_string(pre) + " and " + std::to_string(post);
  int numCalls = 0;
  setReduction([&](const DeviceReduction &reduction) {
    ++numCalls;
    EXPECT_EQ(reduction.among.ranks, ranks);
    EXPECT_EQ(reduction.elements, elements);
    EXPECT_EQ(reduction.dtype, dtype);
    EXPECT_EQ(reduction.receive, slice.data());
    EXPECT_EQ(reduction.send, pre == 1 ? full.data() : work.data());
    expectSame(pre == 1 ? full.take() : work.take(), divided(all, dtype, pre),
               dtype, what + ", what is sent");
    slice.write(0, sums.data(), sums.size());
  });
  const WeftReduceScatterRecord record = {{0, ranks, 4}, dtype, elements,
                                          pre,           post,  /*native=*/1};
  call("reduce_scatter", weft_cuda_reduce_scatter,
       {full.data(), slice.data(), work.data()}, cudaReduceScatterBytes(record),
       RecordBytes(record));
  setReduction(nullptr);
  EXPECT_EQ(numCalls, 1);
  expectSame(slice.take(), divided(sums, dtype, post), dtype, what);
}

} // namespace

TEST(RankCommands, NativeSumsAreDividedBeforeAndAfter) {
  std::mt19937 rng(4);
  for (auto [pre, post] : {std::pair(1.0, 1.0), {2.0, 1.5}, {1.0, 3.0}}) {
    checkNative<float>(WEFT_F32, pre, post, rng);
    checkNative<double>(WEFT_F64, pre, post, rng);
    checkNative<uint16_t>(WEFT_F16, pre, post, rng);
    checkNative<uint16_t>(WEFT_BF16, pre, post, rng);
  }
}

// Without a library a native reduction is an ordered one.
TEST(RankCommands, SumsHaveTheBitsOfTheCpu) {
  std::mt19937 rng(3);
  for (int64_t ranks = 1; ranks <= 6; ++ranks)
    for (int64_t elements : {1, 3, 255, 257, 1031})
      for (auto [pre, post] :
           {std::pair(1.0, 1.0),
            {2.0, 1.0},
            {double(ranks), 1.0},
            {1.0, double(ranks)},
            {4.0, 0.5},
            {3.0, 7.0},
            {std::sqrt(double(ranks)), std::sqrt(double(ranks))}}) {
        checkSum<float>(WEFT_F32, ranks, elements, pre, post, rng);
        checkSum<double>(WEFT_F64, ranks, elements, pre, post, rng);
        checkSum<uint16_t>(WEFT_F16, ranks, elements, pre, post, rng);
        checkSum<uint16_t>(WEFT_BF16, ranks, elements, pre, post, rng);
      }
}

// More numbers than one launch takes: sums in the order of ranks, the largest
// unless one is NaN, flags.
TEST(RankCommands, NumbersOfAllRanks) {
  constexpr int64_t kRanks = 3, kCount = 2 * cuda::kRankNumbers + 5;
  std::mt19937 rng(5);
  std::vector<std::vector<double>> values(kRanks, std::vector<double>(kCount));
  std::vector<int64_t> kinds;
  for (int64_t i = 0; i < kCount; ++i) {
    kinds.push_back(i % 3);
    for (auto &ofRank : values)
      ofRank[i] = i % 3 == WEFT_RANK_OR ? double(rng() % 2)
                  : rng() % 9 == 0      ? std::nan("")
                                        : double(rng()) * 1.0e-3 - 2.0e6;
  }
  std::deque<Guarded<double>> numbers, sums;
  std::deque<Guarded<unsigned char>> flags, anys;
  std::vector<const void *> in, out;
  for (int64_t i = 0; i < kCount; ++i) {
    const double own = values[kRank][i];
    if (kinds[i] == WEFT_RANK_OR) {
      flags.emplace_back(std::vector<unsigned char>{own != 0}, 0);
      anys.emplace_back(1);
      in.push_back(flags.back().data());
      out.push_back(anys.back().data());
    } else {
      numbers.emplace_back(std::vector<double>{own}, 0);
      sums.emplace_back(1);
      in.push_back(numbers.back().data());
      out.push_back(sums.back().data());
    }
  }
  Guarded<double> all(kRanks * kCount);
  Peers peers([&](const DeviceExchange &exchange) {
    // Its own numbers lie where the others' come to.
    EXPECT_EQ(exchange.send, all.data() + kRank * kCount);
    EXPECT_EQ(exchange.stride, 0);
    for (int rank : {0, 2})
      all.write(rank * kCount, values[rank].data(), kCount);
  });
  in.insert(in.end(), out.begin(), out.end());
  in.push_back(all.data());
  const WeftAllReduceRecord record = {{0, kRanks, 0}, kCount};
  call("all_reduce", weft_cuda_all_reduce, in, cudaAllReduceBytes(record),
       {record, kinds});
  size_t number = 0, flag = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double a = values[0][i], b = values[1][i], c = values[2][i];
    if (kinds[i] == WEFT_RANK_OR) {
      EXPECT_EQ(anys[flag++].take()[0], a != 0 || b != 0 || c != 0);
      continue;
    }
    const double got = sums[number++].take()[0];
    const bool isNone = std::isnan(a) || std::isnan(b) || std::isnan(c);
    const double want =
        kinds[i] == WEFT_RANK_SUM ? a + b + c : std::max({a, b, c});
    EXPECT_TRUE(isNone ? std::isnan(got) : got == want) << i;
  }
}

TEST(RankCommands, OwnSlicesAndRanks) {
  Peers peers(nullptr);
  Guarded<float> full(std::vector<float>{0, 1, 2, 3, 4, 5}, 0), slice(2);
  call("own_slice", weft_cuda_own_slice, {full.data(), slice.data()}, 0,
       RecordBytes(WeftOwnSliceRecord{{0, 3, 0}, WEFT_F32, 2}));
  EXPECT_EQ(slice.take(), (std::vector<float>{2, 3}));
  Guarded<int64_t> rank(1);
  call("rank", weft_cuda_rank, {rank.data()}, 0,
       RecordBytes(WeftRankRecord{{0, 3, 0}}));
  EXPECT_EQ(rank.take()[0], kRank);
}

TEST(RankCommands, WrongRecordsAndWorkspaces) {
  Guarded<float> full(6), slice(2);
  const WeftReduceScatterRecord record = {{0, 3, 0}, WEFT_F32, 2, 3, 1, 0};
  const std::vector<const void *> buffers = {full.data(), slice.data()};
  expectCudaError(WEFT_EXTENSION,
                  "expects a workspace of at least 24 bytes, but got 0",
                  weft_cuda_reduce_scatter, buffers, RecordBytes(record));
  expectCudaError(WEFT_EXTENSION, "expects 2 buffers, but got 1",
                  weft_cuda_all_gather, {full.data()},
                  RecordBytes(WeftAllGatherRecord{{0, 3, 0}, WEFT_F32, 2}));
  expectCudaError(WEFT_EXTENSION, "expects a record of 40 bytes, but got 64",
                  weft_cuda_own_slice, buffers, RecordBytes(record));
  expectCudaError(WEFT_EXTENSION, "expects ranks of at least 1, but got 0",
                  weft_cuda_all_gather, buffers,
                  RecordBytes(WeftAllGatherRecord{{0, 0, 0}, WEFT_F32, 2}));
  WeftReduceScatterRecord odd = record;
  odd.native = 2;
  expectCudaError(WEFT_EXTENSION,
                  "expects native of at least 0 and at most 1, but got 2",
                  weft_cuda_reduce_scatter, buffers, RecordBytes(odd));
  TestContext context(1);
  callWith(context, weft_cuda_own_slice, buffers, 0,
           RecordBytes(WeftOwnSliceRecord{{0, 3, 0}, WEFT_I32, 2}),
           WEFT_EXTENSION);
  EXPECT_EQ(context.error(), 70);
  TestContext other(1);
  callWith(other, weft_cuda_all_reduce, buffers, 0,
           {WeftAllReduceRecord{{0, 3, 0}, 2}, std::vector<int64_t>{0}},
           WEFT_EXTENSION);
  EXPECT_NE(other.message().find("expects count of at least 1 and at most 1, "
                                 "but got 2"),
            std::string::npos);
}
