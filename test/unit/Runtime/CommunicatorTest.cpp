//===- CommunicatorTest.cpp - Collectives of ranks that are threads -------===//

#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Formats/Half.h"
#include "weft/Runtime/Collectives/Loopback.h"
#include "weft/Runtime/Collectives/Voting.h"
#include "weft/Runtime/Execute/Abi.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <ctime>
#include <functional>
#include <random>
#include <thread>

using namespace weft;

namespace {

/// Runs `body` as each of the ranks.
void onRanks(int ranks, double timeout,
             const std::function<void(std::unique_ptr<Transport>)> &body) {
  auto transports = connectLoopback(ranks);
  std::vector<std::thread> threads;
  for (auto &transport : transports) {
    transport->setTimeout(timeout);
    threads.emplace_back([&body, own = std::move(transport)]() mutable {
      body(std::move(own));
    });
  }
  for (std::thread &thread : threads)
    thread.join();
}

std::vector<float> numbersOf(int rank, int64_t count) {
  std::mt19937 random(unsigned(rank * 7919 + count));
  std::normal_distribution<float> normal;
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(normal(random));
  return numbers;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// FairScale's table: the factors of a number of ranks.
TEST(PreDivide, IsThatOfTheTable) {
  const std::pair<int, double> table[] = {
      {1, 1}, {2, 2},  {3, 2},  {4, 2},  {5, 2},  {6, 4},  {7, 2},   {8, 4},
      {9, 2}, {12, 4}, {16, 4}, {24, 8}, {32, 8}, {64, 8}, {128, 16}};
  for (auto [ranks, pre] : table)
    EXPECT_EQ(choosePreDivide(ranks), pre) << ranks;
  for (int ranks = 1; ranks <= 128; ++ranks) {
    const double pre = choosePreDivide(ranks);
    EXPECT_EQ(pre * (ranks / pre), ranks);
  }
}

class Sizes : public testing::TestWithParam<std::tuple<int, int64_t>> {};

/// The sum in the order of ranks, to the bit, on every rank, also where it
/// takes several exchanges.
TEST_P(Sizes, ReduceScatterAddsInTheOrderOfRanks) {
  const int ranks = std::get<0>(GetParam());
  const int64_t elements = std::get<1>(GetParam());
  std::vector<std::vector<float>> inputs;
  for (int rank = 0; rank < ranks; ++rank)
    inputs.push_back(numbersOf(rank, elements * ranks));
  const float pre = float(choosePreDivide(ranks)), post = float(ranks) / pre;
  std::vector<float> wanted;
  for (int64_t i = 0; i < elements * ranks; ++i) {
    float sum = inputs[0][size_t(i)] / pre;
    for (int rank = 1; rank < ranks; ++rank)
      sum += inputs[size_t(rank)][size_t(i)] / pre;
    wanted.push_back(sum / post);
  }
  onRanks(ranks, 30, [&](std::unique_ptr<Transport> transport) {
    Communicator all(std::move(transport));
    const size_t rank = size_t(all.rank());
    std::vector<float> slice(size_t(elements), -1),
        full(size_t(elements * ranks), -1);
    ASSERT_TRUE(all.reduceScatter(inputs[rank].data(), slice.data(), elements,
                                  WEFT_F32, pre, post, "a sum"));
    for (size_t i = 0; i < slice.size(); ++i)
      ASSERT_EQ(slice[i], wanted[rank * slice.size() + i]) << i;
    ASSERT_TRUE(
        all.allGather(slice.data(), full.data(), elements * 4, "a gather"));
    EXPECT_EQ(full, wanted);
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, Sizes,
    testing::Combine(testing::Values(1, 2, 3, 4, 8),
                     testing::Values<int64_t>(0, 1, 7, 1000, 200003)));

/// The mean of one f16 number of eight ranks, with these divisors.
float meanOfHalves(float number, double pre) {
  uint16_t result = 0;
  onRanks(8, 30, [&](std::unique_ptr<Transport> transport) {
    Communicator all(std::move(transport));
    std::vector<uint16_t> full(8, floatToHalf(number));
    uint16_t slice = 0;
    ASSERT_TRUE(all.reduceScatter(full.data(), &slice, 1, WEFT_F16, pre,
                                  8 / pre, "a sum"));
    if (all.rank() == 0)
      result = slice;
  });
  return halfToFloat(result);
}

/// Neither large nor small gradients leave the range of f16 on their way, which
/// small ones do where they are divided by all ranks first.
TEST(ReduceScatter, KeepsTheRangeOfHalves) {
  EXPECT_EQ(meanOfHalves(20000, 4), 20000);
  EXPECT_EQ(meanOfHalves(0x1p-22f, 4), 0x1p-22f);
  EXPECT_EQ(meanOfHalves(0x1p-22f, 8), 0);
}

TEST(ReduceScatter, RefusesIntegers) {
  Communicator alone(std::move(connectLoopback(1).front()));
  int32_t number = 1;
  Status status =
      alone.reduceScatter(&number, &number, 1, WEFT_I32, 1, 1, "a sum");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "a sum: expects a floating-point type, but got dtype 5");
}

//===----------------------------------------------------------------------===//
// Ranks that do not come
//===----------------------------------------------------------------------===//

/// Who waits learns of it at once.
TEST(Loopback, ARankThatLeavesIsNamed) {
  onRanks(3, 30, [&](std::unique_ptr<Transport> transport) {
    if (transport->rank() == 1)
      return;
    Communicator all(std::move(transport));
    float number = 0, numbers[3];
    Status status = all.allGather(&number, numbers, 4, "step 4");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ExitCode::Communication);
    EXPECT_EQ(status.error().message(),
              "expects rank 1 in step 4, but it has left the run");
  });
}

TEST(Loopback, ARankThatDoesNotComeIsNamed) {
  std::atomic<bool> isOver = false;
  onRanks(2, 0.2, [&](std::unique_ptr<Transport> transport) {
    if (transport->rank() == 1) {
      while (!isOver)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    Communicator all(std::move(transport));
    float number = 0, numbers[2];
    Status status = all.allGather(&number, numbers, 4, "step 4");
    isOver = true;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message(),
              "rank 0 expects rank 1 in step 4, but it has not come for 0.2 s");
    const double spent = double(after.tv_sec - before.tv_sec) +
                         1e-9 * double(after.tv_nsec - before.tv_nsec);
    EXPECT_LT(spent, 0.05 * 0.2) << "who waits sleeps";
  });
}

TEST(Loopback, RanksThatDifferFail) {
  onRanks(2, 30, [&](std::unique_ptr<Transport> transport) {
    Communicator all(std::move(transport));
    char own[8] = {}, numbers[16];
    Status status =
        all.allGather(own, numbers, all.rank() == 0 ? 4 : 8, "step 4");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message(),
              "expects all ranks in one collective, but got rank 0 in step 4 "
              "(4 bytes a piece) and rank 1 in step 4 (8 bytes a piece)");
  });
}

//===----------------------------------------------------------------------===//
// Votes
//===----------------------------------------------------------------------===//

TEST(Votes, AllTakeOneDecision) {
  onRanks(4, 30, [&](std::unique_ptr<Transport> transport) {
    VotingAgreement votes(std::move(transport));
    Vote vote;
    vote.place = {Place::Step, 3};
    vote.stop = votes.rank() == 2;
    vote.failure = votes.rank() == 1 ? ExitCode::Input : ExitCode::Ok;
    vote.text = std::string(size_t(votes.rank()), 'x');
    const Decision all = votes.agree(vote);
    EXPECT_TRUE(all.stop);
    EXPECT_EQ(all.failure, ExitCode::Input);
    EXPECT_EQ(all.rank, 1);
    EXPECT_EQ(all.texts, (std::vector<std::string>{"", "x", "xx", "xxx"}));
  });
}

TEST(Votes, ARankThatHasLeftVotesForSeven) {
  onRanks(2, 30, [&](std::unique_ptr<Transport> transport) {
    if (transport->rank() == 1)
      return;
    VotingAgreement votes(std::move(transport));
    Vote vote;
    vote.place = {Place::Step, 3};
    const Decision all = votes.agree(vote);
    EXPECT_EQ(all.failure, ExitCode::Communication);
    EXPECT_FALSE(all.mayStillSave);
    EXPECT_EQ(all.reason,
              "expects rank 1 in the vote after step 3, but it has left the "
              "run");
  });
}

} // namespace
