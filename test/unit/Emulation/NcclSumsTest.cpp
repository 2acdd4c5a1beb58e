//===- NcclSumsTest.cpp - Orders of sums of the emulated NCCL -------------===//

#include "EmulatedRanks.h"

#include "weft/Base/Half.h"

#include <cmath>
#include <set>

namespace weft::emulation {
namespace {

/// Elements whose sum depends on the order; the same for each period.
std::vector<float> hardInputs(int rank, size_t count, size_t period) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const auto seed = static_cast<float>(static_cast<size_t>(rank) * 7919 +
                                         i % period * 104729 + 1);
    values[i] = std::sin(seed) * std::pow(10.0f, std::fmod(seed, 7.0f) - 3);
  }
  return values;
}

constexpr size_t kHard = 4096, kPeriod = 64;

/// Operations as small as these are added as a tree otherwise.
void useRings() { setenv("NCCL_ALGO", "ring", 1); }

std::vector<float> hardSums(Rank &r, int channels, size_t count) {
  useRings();
  ncclComm_t comm = r.join(makeConfig(1, channels));
  float *place = r.make(hardInputs(r.rank, count, kPeriod));
  EXPECT_NCCL(
      ncclAllReduce(place, place, count, ncclFloat32, ncclSum, comm, r.stream));
  std::vector<float> sums = r.download(place, count);
  Rank::leave(comm);
  return sums;
}

TEST(NcclSums, DependOnChannelsAndOffsetsOnly) {
  runRanks(3, [](Rank &r) {
    std::vector<float> two = hardSums(r, 2, kHard);
    EXPECT_EQ(hardSums(r, 2, kHard), two);
    EXPECT_NE(hardSums(r, 1, kHard), two);
    // The same elements follow each other again and again.
    std::vector<std::vector<float>> parts;
    for (size_t i = 0; i < kHard; i += kPeriod)
      parts.emplace_back(two.begin() + static_cast<ptrdiff_t>(i),
                         two.begin() + static_cast<ptrdiff_t>(i + kPeriod));
    size_t numUnlike = 0;
    for (const std::vector<float> &part : parts)
      numUnlike += part != parts[0] ? 1 : 0;
    EXPECT_GT(numUnlike, parts.size() / 3);
    // No order of ranks gives all of them.
    std::vector<float> ordered(kHard);
    for (int rank = 0; rank < r.size; ++rank) {
      std::vector<float> next = hardInputs(rank, kHard, kPeriod);
      for (size_t i = 0; i < kHard; ++i)
        ordered[i] += next[i];
    }
    EXPECT_NE(two, ordered);
  });
}

/// Four ranks in one direction of a ring have four orders.
TEST(NcclSums, ChannelsHaveBothDirections) {
  runRanks(4, [](Rank &r) {
    std::vector<float> sums = hardSums(r, 4, kHard);
    std::set<std::vector<float>> parts;
    for (auto at = sums.begin(); at != sums.end(); at += kPeriod)
      parts.insert(std::vector<float>(at, at + kPeriod));
    EXPECT_GT(parts.size(), 4u);
  });
}

/// The ranks' configurations are unequal: the smallest one holds for all.
TEST(NcclSums, RanksAgreeOnChannels) {
  runRanks(3, [](Rank &r) {
    std::vector<float> one = hardSums(r, 1, kHard);
    EXPECT_EQ(hardSums(r, r.rank == 2 ? 1 : 4, kHard), one);
  });
}

TEST(NcclSums, ChannelsOfTheEnvironment) {
  runRanks(3, [](Rank &r) {
    std::vector<float> two = hardSums(r, 2, kHard);
    std::vector<float> one = hardSums(r, 1, kHard);
    EXPECT_EQ(hardSums(r, NCCL_CONFIG_UNDEF_INT, kHard), two);
    setenv("NCCL_MAX_CTAS", "1", 1);
    EXPECT_EQ(hardSums(r, NCCL_CONFIG_UNDEF_INT, kHard), one);
  });
}

TEST(NcclSums, EnvironmentWinsOverTheConfiguration) {
  runRanks(3, [](Rank &r) {
    std::vector<float> one = hardSums(r, 1, kHard);
    EXPECT_NE(hardSums(r, 2, kHard), one);
    setenv("NCCL_MAX_CTAS", "1", 1);
    EXPECT_EQ(hardSums(r, 2, kHard), one);
  });
}

/// Sums of ncclReduceScatter with NCCL_ALGO and NCCL_PROTO; null: not set.
std::vector<float> scatteredSums(Rank &r, const char *algorithm,
                                 const char *protocol) {
  unsetenv("NCCL_ALGO");
  unsetenv("NCCL_PROTO");
  if (algorithm)
    setenv("NCCL_ALGO", algorithm, 1);
  if (protocol)
    setenv("NCCL_PROTO", protocol, 1);
  ncclComm_t comm = r.join(makeConfig(1, 2));
  constexpr size_t kSlice = kHard / 4;
  float *full = r.make(hardInputs(r.rank, kHard, kPeriod));
  auto *slice = r.allocate<float>(kSlice);
  EXPECT_NCCL(ncclReduceScatter(full, slice, kSlice, ncclFloat32, ncclSum, comm,
                                r.stream));
  std::vector<float> sums = r.download(slice, kSlice);
  Rank::leave(comm);
  return sums;
}

TEST(NcclSums, DependOnAlgorithmAndProtocol) {
  runRanks(4, [](Rank &r) {
    const std::vector<float> ring = scatteredSums(r, "ring", nullptr);
    EXPECT_NE(scatteredSums(r, nullptr, nullptr), ring);
    EXPECT_NE(scatteredSums(r, "ring", "LL"), ring);
    EXPECT_NE(scatteredSums(r, "allreduce:ring", nullptr), ring);
    EXPECT_EQ(scatteredSums(r, "reducescatter:ring", "reducescatter:simple"),
              ring);
    EXPECT_EQ(scatteredSums(r, "tree;reducescatter:ring", "allreduce:LL"),
              ring);
  });
}

TEST(NcclSums, AreTheSameOnAllRanks) {
  runRanks(4, [](Rank &r) {
    std::vector<float> sums = hardSums(r, 2, kHard);
    ncclComm_t comm = r.join();
    float *own = r.make(sums);
    auto *all = r.allocate<float>(4 * kHard);
    EXPECT_NCCL(ncclAllGather(own, all, kHard, ncclFloat32, comm, r.stream));
    std::vector<float> got = r.download(all, 4 * kHard);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], sums[i % kHard]);
    Rank::leave(comm);
  });
}

/// bf16 1 + 2^-9 + 2^-9: rounded at every hop the small ones are lost, in any
/// order that begins with the 1.
TEST(NcclSums, AreRoundedAtEveryHop) {
  runRanks(3, [](Rank &r) {
    useRings();
    ncclComm_t comm = r.join();
    const uint16_t value = floatToBf16(r.rank == 0 ? 1.0f : 0.00390625f);
    auto *place = r.make(std::vector<uint16_t>(kHard, value));
    EXPECT_NCCL(ncclAllReduce(place, place, kHard, ncclBfloat16, ncclSum, comm,
                              r.stream));
    size_t numLost = 0, numKept = 0;
    for (uint16_t sum : r.download(place, kHard)) {
      numLost += bf16ToFloat(sum) == 1.0f ? 1 : 0;
      numKept += bf16ToFloat(sum) == 1.0078125f ? 1 : 0;
    }
    EXPECT_GT(numLost, 0u);
    EXPECT_GT(numKept, 0u);
    EXPECT_EQ(numLost + numKept, kHard);
    Rank::leave(comm);
  });
}

} // namespace
} // namespace weft::emulation
