//===- AgreeTest.cpp - Decisions that all ranks take alike ----------------===//

#include "ThreadRanks.h"

#include <gtest/gtest.h>

#include <random>

using namespace weft;

namespace {

Vote stepVote(int64_t step) { return voteAt({Place::Step, step}, Status()); }

Vote failing(ExitCode code, int64_t doneStep = 0, bool mayStillSave = false) {
  Vote vote = voteAt({Place::Step, 1}, Error(code, "x"));
  vote.doneStep = doneStep;
  vote.mayStillSave = mayStillSave;
  return vote;
}

TEST(Decide, OneRankDoesWhatItSays) {
  OneRank alone;
  Vote vote = stepVote(1);
  Decision all = alone.reach(vote);
  EXPECT_FALSE(all.stop || all.save || all.last || all.failed());
  vote.stop = vote.save = vote.last = true;
  vote.text = "x";
  all = alone.reach(vote);
  EXPECT_TRUE(all.stop && all.save && all.last);
  EXPECT_EQ(all.texts, std::vector<std::string>{"x"});
  all = alone.reach(failing(ExitCode::Input, 3, /*mayStillSave=*/true));
  EXPECT_EQ(all.failure, ExitCode::Input);
  EXPECT_TRUE(all.mayStillSave);
  EXPECT_EQ(errorOf(all, alone, Error(ExitCode::Input, "no data")).where(),
            "no data");
}

TEST(Decide, OneRankIsEnough) {
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<Vote> votes(3, stepVote(2));
    votes[size_t(rank)].stop = true;
    votes[size_t((rank + 1) % 3)].save = true;
    votes[size_t((rank + 2) % 3)].last = true;
    Decision all = decide(votes);
    EXPECT_TRUE(all.stop && all.save && all.last) << rank;
    EXPECT_FALSE(all.failed());
  }
}

// 7 says least, 70 most; at equal codes the first rank speaks.
TEST(Decide, TheWorstFailureWins) {
  const ExitCode order[] = {
      ExitCode::Communication, ExitCode::Usage,      ExitCode::Numerics,
      ExitCode::Input,         ExitCode::Checkpoint, ExitCode::DoesNotFit,
      ExitCode::Storage,       ExitCode::Device,     ExitCode::Internal};
  for (size_t worse = 1; worse < std::size(order); ++worse)
    for (size_t less = 0; less < worse; ++less) {
      Decision all = decide({failing(order[less]), failing(order[worse]),
                             stepVote(1), failing(order[worse])});
      EXPECT_EQ(all.failure, order[worse]);
      EXPECT_EQ(all.rank, 1);
      all = decide({failing(order[worse]), failing(order[less])});
      EXPECT_EQ(all.failure, order[worse]);
      EXPECT_EQ(all.rank, 0);
    }
}

// Whole steps are saved before the end if every rank that failed holds one, and
// all ranks the same.
TEST(Decide, WholeStepsMayStillBeSaved) {
  Vote fine = stepVote(1);
  fine.doneStep = 4;
  const Vote lost = failing(ExitCode::Input, 4, true);
  EXPECT_TRUE(decide({fine, lost}).mayStillSave);
  EXPECT_FALSE(decide({fine, fine}).mayStillSave);
  EXPECT_FALSE(decide({failing(ExitCode::Input, 3, true), fine}).mayStillSave);
  EXPECT_FALSE(decide({lost, failing(ExitCode::Device, 4)}).mayStillSave);
}

TEST(Decide, RanksThatPartedEnd) {
  Vote save = voteAt({Place::SaveWritten, 1}, Status());
  OneRank alone;
  Decision all = decide({stepVote(1), stepVote(1), save});
  EXPECT_EQ(all.failure, ExitCode::Internal);
  EXPECT_EQ(errorOf(all, alone, Status()).where(),
            "expects all ranks in one place, but got rank 0 after step 1 and "
            "rank 2 after step 1 is written");
  all = decide({stepVote(1), stepVote(2)});
  EXPECT_EQ(all.failure, ExitCode::Internal);
  // A rank that left has no position.
  Vote gone;
  gone.failure = ExitCode::Communication;
  for (const std::vector<Vote> &votes :
       {std::vector<Vote>{gone, stepVote(2), stepVote(2)},
        {stepVote(2), gone, stepVote(2)},
        {stepVote(2), stepVote(2), gone}})
    EXPECT_EQ(decide(votes).failure, ExitCode::Communication);
  EXPECT_EQ(decide({gone, stepVote(2), stepVote(1)}).failure,
            ExitCode::Internal);
}

/// The decisions of 40 rounds, in which ranks arrive in an order that `seed`
/// says.
std::vector<std::string> decisionsOf(unsigned seed) {
  constexpr int ranks = 4;
  ThreadRanks all(ranks);
  std::vector<std::string> heard(ranks);
  all.run([&](Consensus &consensus) {
    const int rank = consensus.rank();
    std::minstd_rand random(seed * 16 + unsigned(rank) + 1);
    for (int64_t step = 1; step <= 40; ++step) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      Vote vote = stepVote(step);
      vote.save = step % 7 == rank;
      vote.stop = step == 31 && rank == 2;
      if (step % 13 == rank)
        vote.failure = rank % 2 ? ExitCode::Input : ExitCode::Device;
      const Decision decision = consensus.reach(vote);
      heard[size_t(rank)] += std::to_string(int(decision.failure)) + "," +
                             std::to_string(decision.rank) +
                             (decision.save ? "s" : "") +
                             (decision.stop ? "!" : "") + " ";
    }
  });
  return heard;
}

TEST(ThreadRanks, AllDecideAlikeInWhateverOrderTheyArrive) {
  const std::vector<std::string> first = decisionsOf(0);
  EXPECT_NE(first[0].find("3,1"), std::string::npos) << first[0];
  EXPECT_NE(first[0].find("9,2"), std::string::npos) << first[0];
  for (unsigned seed = 0; seed < 5; ++seed)
    for (const std::string &heard : decisionsOf(seed))
      EXPECT_EQ(heard, first[0]) << seed;
}

TEST(ThreadRanks, NobodyWaitsForOneThatLeft) {
  for (int gone = 0; gone < 3; ++gone) {
    ThreadRanks all(3);
    std::vector<std::string> ends(3);
    all.run([&](Consensus &consensus) {
      std::string &end = ends[size_t(consensus.rank())];
      if (consensus.rank() == gone)
        throw std::bad_alloc();
      for (int64_t step = 1; end.empty(); ++step)
        if (Decision heard = consensus.reach(stepVote(step)); heard.failed())
          end = std::to_string(int(heard.failure)) + " " +
                errorOf(heard, consensus, Status()).where();
    });
    const std::string left =
        "7 rank " + std::to_string(gone) + " has left the run";
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(ends[size_t(rank)], rank == gone ? "" : left);
    EXPECT_EQ(all.decisions(), 1);
  }
}

} // namespace
