//===- RankChecks.cpp - Groups, orders and failures of ranks --------------===//

#include "CollectiveChecks.h"
#include "TestNumbers.h"
#include "weft/Runtime/Collectives/CommandStreams.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Collectives/Consensus.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <thread>

using namespace weft;

std::unique_ptr<Transport> weft::copyOf(Transport &all) {
  auto part = all.split(0);
  if (part)
    return std::move(*part);
  ADD_FAILURE() << part.error().where();
  std::abort();
}

void weft::meet(Transport &all) {
  auto done = all.gather(0, "a meeting");
  EXPECT_TRUE(done) << done.error().where();
}

static void sleepFor(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

//===- Groups and orders --------------------------------------------------===//

// replica:2,shard:W/2, and groups of several sizes.
void weft::checkMesh(Transport &all) {
  const int shard = std::max(all.ranks() / 2, 1);
  auto shards = all.split(all.rank() / shard);
  auto replicas = all.split(all.rank() % shard);
  ASSERT_TRUE(shards && replicas);
  EXPECT_EQ((*shards)->rank(), all.rank() % shard);
  EXPECT_EQ((*replicas)->rank(), all.rank() / shard);
  // Both at once, in an order that differs between groups.
  auto shardRanks = (*shards)->gather(all.rank(), "shard");
  auto replicaRanks = (*replicas)->gather(all.rank(), "replica");
  ASSERT_TRUE(shardRanks && replicaRanks);
  const int firstShard = all.rank() / shard * shard;
  for (size_t i = 0; i < shardRanks->size(); ++i)
    EXPECT_EQ((*shardRanks)[i], firstShard + int(i));
  for (size_t i = 0; i < replicaRanks->size(); ++i)
    EXPECT_EQ((*replicaRanks)[i], all.rank() % shard + int(i) * shard);
  // A group of a group.
  auto alone = (*shards)->split((*shards)->rank());
  ASSERT_TRUE(alone);
  EXPECT_EQ((*alone)->ranks(), 1);
  Communicator one(std::move(*alone));
  float value = 3;
  ASSERT_TRUE(allReduce(one, &value, 1, WEFT_F32, {2, 1}));
  EXPECT_EQ(value, 1.5f);
}

// Ranks that arrive early do not write what late ones still read.
void weft::checkDelays(Transport &all) {
  Communicator group(copyOf(all), 64 * all.ranks());
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::minstd_rand random(seed * 100 + unsigned(group.rank()));
    for (int round = 0; round < 30; ++round) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      const int64_t elements =
          1 + int64_t(seed * 31 + unsigned(round) * 7) % 50;
      std::vector<char> data = numbersOf(WEFT_F32, group.rank(), elements);
      ASSERT_TRUE(allReduce(group, data.data(), elements, WEFT_F32, {}));
      ASSERT_EQ(data, plainSum(WEFT_F32, group.ranks(), elements, {}));
    }
  }
}

// Two communicators with a thread each, while this one works.
void weft::checkThreads(Transport &all) {
  constexpr int64_t elements = 1000;
  Communicator sums(copyOf(all)), copies(copyOf(all));
  std::vector<std::vector<char>> data(
      8, numbersOf(WEFT_F32, all.rank(), elements));
  std::vector<std::vector<int>> numbers(8,
                                        std::vector<int>(size_t(all.ranks())));
  CommunicationThread sumThread, copyThread;
  std::vector<int64_t> sumTickets, copyTickets;
  for (size_t i = 0; i < data.size(); ++i) {
    sumTickets.push_back(sumThread.start([&, i] {
      return allReduce(sums, data[i].data(), elements, WEFT_F32, {});
    }));
    copyTickets.push_back(copyThread.start([&, i] {
      const int own = int(i) * 100 + copies.rank();
      return copies.allGather(&own, numbers[i].data(), sizeof own, "numbers");
    }));
  }
  const auto expected = plainSum(WEFT_F32, all.ranks(), elements, {});
  for (size_t i = data.size(); i-- > 0;) {
    EXPECT_TRUE(sumThread.wait(sumTickets[i]));
    EXPECT_TRUE(copyThread.wait(copyTickets[i]));
    EXPECT_EQ(data[i], expected);
    EXPECT_EQ(numbers[i].back(), int(i) * 100 + all.ranks() - 1);
  }
}

//===- Failures -----------------------------------------------------------===//

// One leaves while the others wait: they do not wait for a time to be over.
void weft::checkLeft(Transport &all) {
  for (int gone = 0; gone < all.ranks() && all.ranks() > 1; ++gone) {
    auto part = copyOf(all);
    const auto begin = std::chrono::steady_clock::now();
    if (all.rank() == gone) {
      sleepFor(0.02);
      part.reset();
    } else {
      auto heard = part->gather(1, "step 3");
      ASSERT_FALSE(heard);
      EXPECT_EQ(heard.error().code(), ExitCode::Communication);
      const std::string text = heard.error().message();
      EXPECT_NE(text.find("expects rank "), std::string::npos) << text;
      EXPECT_NE(text.find("but it has left the run"), std::string::npos)
          << text;
      EXPECT_NE(text.find("step 3"), std::string::npos) << text;
      EXPECT_LT(std::chrono::steady_clock::now() - begin,
                std::chrono::seconds(5));
    }
    meet(all);
  }
}

// One never comes.
void weft::checkMissing(Transport &all) {
  if (all.ranks() == 1)
    return;
  const int late = all.ranks() - 1;
  auto part = copyOf(all);
  part->setTimeout(0.4);
  if (all.rank() != late) {
    Communicator group(std::move(part));
    float value = 1;
    const auto begin = std::chrono::steady_clock::now();
    Status status = allReduce(group, &value, 1, WEFT_F32, {});
    const std::chrono::duration<double> waited =
        std::chrono::steady_clock::now() - begin;
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ExitCode::Communication);
    const std::string text = status.error().message(),
                      expected =
                          " expects rank " + std::to_string(late) +
                          " in a sum (collective 1, 1 F32 by 1 and 1), but "
                          "it has not come for 0.4 s";
    EXPECT_NE(text.find(expected), std::string::npos) << text;
    EXPECT_EQ(text.find("rank "), 0u) << text;
    EXPECT_EQ(group.connection().missing(), std::vector<int>{late});
    EXPECT_GT(waited.count(), 0.3);
    EXPECT_LT(waited.count(), 3);
    // It stays so.
    EXPECT_EQ(group.allGather(&value, &value, 0, "more").error().message(),
              text);
    meet(all);
  } else {
    meet(all);
    // It comes now: the others have gone.
    EXPECT_FALSE(part->gather(1, "too late"));
  }
  meet(all);
}

// One is somewhere else: an error of all, and no memory is touched.
void weft::checkSizes(Transport &all) {
  if (all.ranks() == 1)
    return;
  const bool isOdd = all.rank() == 0;
  for (int kind = 0; kind < 4; ++kind) {
    Communicator group(copyOf(all));
    std::vector<float> full(size_t(all.ranks()) * 40000, 1.0f);
    const float before = full.back();
    std::vector<float> slice(40000, 2.0f);
    Status status;
    if (kind == 0) // another size
      status = reduceScatter(group, full.data(), slice.data(),
                             isOdd ? 20000 : 30000, WEFT_F32, {});
    else if (kind == 1) // another type
      status = reduceScatter(group, full.data(), slice.data(), 100,
                             isOdd ? WEFT_F16 : WEFT_BF16, {});
    else if (kind == 2) // another divisor
      status = reduceScatter(group, full.data(), slice.data(), 100, WEFT_F32,
                             {isOdd ? 2.0 : 1.0, 1.0});
    else if (isOdd) // another collective
      status = group.allGather(slice.data(), full.data(), 400, "a gather");
    else
      status =
          reduceScatter(group, full.data(), slice.data(), 100, WEFT_F32, {});
    ASSERT_FALSE(status) << kind;
    EXPECT_EQ(status.error().code(), ExitCode::Communication);
    const std::string text = status.error().message();
    EXPECT_TRUE(text.find("expects all ranks in one collective, but got rank "
                          "") == 0 ||
                text.find("has left the run") != std::string::npos)
        << text;
    EXPECT_EQ(full.back(), before);
    EXPECT_EQ(slice.front(), 2.0f);
    meet(all);
  }
}

static double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

// A long wait costs about 0.025 s of a processor a second; on a loaded machine
// at most four times as much.
void weft::checkWaiting(Transport &all) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = threadSeconds();
  if (all.rank() == 0)
    sleepFor(0.5);
  meet(all);
  const std::chrono::duration<double> waited =
      std::chrono::steady_clock::now() - begin;
  EXPECT_LT(threadSeconds() - before, 0.1 * waited.count());
  if (all.rank() == all.ranks() - 1)
    ::testing::Test::RecordProperty("WaitMicroseconds",
                                    int(1e6 * (threadSeconds() - before)));
}

/// All ranks but the first, whose numbers there are others.
static Expected<std::unique_ptr<Transport>> mostOf(Transport &all) {
  auto part = all.split(all.ranks() > 2 && all.rank() > 0);
  if (part)
    (*part)->setTimeout(1);
  return part;
}

// One arrives long after the timeout of the others, but sends heartbeats.
void weft::checkHeartbeats(Transport &all) {
  auto part = mostOf(all);
  ASSERT_TRUE(part.ok());
  if (all.rank() == all.ranks() - 1) {
    const HeartbeatSender heartbeats((*part)->heartbeats(), all.rank(), 1);
    sleepFor(2.5);
  }
  auto heard = (*part)->gather(all.rank(), "a late step");
  EXPECT_TRUE(heard.ok()) << heard.error().message();
  meet(all);
}

// One of two ranks sends heartbeats: the other one is named.
void weft::checkSilence(Transport &all) {
  const int silent = all.ranks() - 1, alive = all.ranks() - 2;
  auto part = mostOf(all);
  ASSERT_TRUE(part.ok());
  if (all.ranks() < 4 || all.rank() == 0)
    return meet(all);
  if (all.rank() == alive || all.rank() == silent) {
    std::unique_ptr<HeartbeatSender> heartbeats;
    if (all.rank() == alive)
      heartbeats =
          std::make_unique<HeartbeatSender>((*part)->heartbeats(), alive, 1);
    return meet(all);
  }
  auto heard = (*part)->gather(1, "a step");
  ASSERT_FALSE(heard);
  EXPECT_EQ((*part)->missing(), std::vector<int>{silent})
      << heard.error().message();
  meet(all);
}

//===- Votes --------------------------------------------------------------===//

static Vote voteOf(int rank, int64_t step) {
  std::minstd_rand random(unsigned(step) * 64 + unsigned(rank) + 1);
  random.discard(3);
  Vote vote =
      voteAt({step % 5 ? Place::Step : Place::SaveWritten, step}, Status());
  vote.doneStep = step;
  vote.stop = random() % 16 == 0;
  vote.save = random() % 4 == 0;
  vote.last = random() % 16 == 0;
  if (random() % 8 == 0)
    vote.failure = random() % 2 ? ExitCode::Device : ExitCode::Input;
  vote.mayStillSave = random() % 2;
  const int longText = rank == int(step) % 3 ? 100000 : 200;
  vote.text = std::string(random() % 3 ? 0 : random() % unsigned(longText),
                          char('a' + rank));
  return vote;
}

static bool areEqual(const Decision &a, const Decision &b) {
  return a.stop == b.stop && a.save == b.save && a.last == b.last &&
         a.failure == b.failure && a.rank == b.rank &&
         a.mayStillSave == b.mayStillSave && a.reason == b.reason &&
         a.texts == b.texts;
}

void weft::checkVotes(Transport &all) {
  VotingConsensus consensus(copyOf(all));
  EXPECT_EQ(consensus.rank(), all.rank());
  EXPECT_EQ(consensus.ranks(), all.ranks());
  for (int64_t step = 1; step <= 60; ++step) {
    std::vector<Vote> votes;
    for (int rank = 0; rank < all.ranks(); ++rank)
      votes.push_back(voteOf(rank, step));
    std::this_thread::sleep_for(
        std::chrono::microseconds((step * 37 + all.rank() * 61) % 200));
    ASSERT_TRUE(
        areEqual(consensus.reach(votes[size_t(all.rank())]), decide(votes)))
        << step;
  }
}

void weft::checkLostVotes(Transport &all) {
  for (int gone = 0; gone < all.ranks() && all.ranks() > 1; ++gone) {
    auto consensus = std::make_unique<VotingConsensus>(copyOf(all));
    Vote vote = voteAt({Place::Step, 1}, Status());
    vote.mayStillSave = true;
    consensus->reach(vote);
    if (all.rank() == gone) {
      consensus.reset();
    } else {
      Decision heard = consensus->reach(vote);
      EXPECT_EQ(heard.failure, ExitCode::Communication);
      EXPECT_FALSE(heard.mayStillSave);
      EXPECT_EQ(errorOf(heard, *consensus, Status()).where(),
                "expects rank " + std::to_string(heard.rank) +
                    " in the vote after step 1, but it has left the run");
      // This rank's own failure is worse.
      vote.failure = ExitCode::Device;
      heard = consensus->reach(vote);
      EXPECT_EQ(heard.failure, ExitCode::Device);
      EXPECT_EQ(heard.rank, all.rank());
      EXPECT_EQ(
          errorOf(heard, *consensus, Error(ExitCode::Device, "mine")).where(),
          "mine");
      EXPECT_FALSE(heard.mayStillSave);
    }
    meet(all);
  }
}
