//===- VotingTest.cpp - Votes as bytes ------------------------------------===//

#include "LoopbackRanks.h"
#include "weft/Runtime/Collectives/Consensus.h"

#include <gtest/gtest.h>

#include <random>

using namespace weft;

namespace {

constexpr int kKinds = Place::Part + 1;

TEST(VoteBytes, ComeBack) {
  const ExitCode codes[] = {ExitCode::Ok, ExitCode::Communication,
                            ExitCode::Internal, ExitCode::Terminated};
  for (int i = 0; i < 64; ++i) {
    Vote vote;
    vote.place = {Place::Kind(i % kKinds), (int64_t(1) << 40) + i};
    vote.doneStep = i - 3;
    vote.stop = i & 1;
    vote.save = i & 2;
    vote.last = i & 4;
    vote.mayStillSave = i & 8;
    vote.failure = codes[i % 4];
    vote.text = std::string(size_t(i), '\0') + "text";
    const std::string bytes = voteBytes(vote);
    auto read = parseVote(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->place, vote.place);
    EXPECT_EQ(read->doneStep, vote.doneStep);
    EXPECT_EQ(read->failure, vote.failure);
    EXPECT_EQ(read->text, vote.text);
    EXPECT_EQ(voteBytes(*read), bytes);
  }
}

std::string errorOfBytes(size_t at, char byte) {
  std::string bytes = voteBytes(Vote());
  bytes[at] = byte;
  auto read = parseVote(bytes);
  return read ? "" : read.error().where();
}

TEST(VoteBytes, AreChecked) {
  EXPECT_EQ(parseVote("").error().where(),
            "expects 19 or more bytes in a vote, but got 0");
  EXPECT_EQ(errorOfBytes(0, kKinds), "expects a kind of place in a vote, but "
                                     "got " +
                                         std::to_string(kKinds));
  EXPECT_EQ(errorOfBytes(1, 32), "expects five flags in a vote, but got 32");
  EXPECT_EQ(errorOfBytes(2, 1), "expects an exit code in a vote, but got 1");
  EXPECT_EQ(parseVote("x").error().code(), ExitCode::Communication);
  std::minstd_rand random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char &byte : bytes)
      byte = char(random() % (random() % 2 ? 6 : 256));
    if (auto read = parseVote(bytes))
      EXPECT_EQ(voteBytes(*read), bytes);
  }
}

/// A transport that receives bytes of the test in place of another rank's.
class Echo final : public Transport {
public:
  explicit Echo(std::string bytes)
      : Transport(0, {0, 1}), answer(std::move(bytes)) {}

private:
  Status exchangeAll(const char *const *, char *const *receive, int64_t bytes,
                     std::string_view) override {
    answer.resize(size_t(bytes), '\0');
    std::copy(answer.begin(), answer.end(), receive[1]);
    return Status::success();
  }
  Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &) override {
    return Error(ExitCode::Internal, "no");
  }
  std::string answer;
};

TEST(VotingConsensus, RefusesWhatIsNoVote) {
  VotingConsensus huge(std::make_unique<Echo>("\xff\xff\xff\xff"));
  Decision heard = huge.reach(Vote());
  EXPECT_EQ(heard.failure, ExitCode::Communication);
  EXPECT_EQ(heard.reason,
            "expects at most 67108864 bytes in a vote, but got 4294967295");
  VotingConsensus empty(std::make_unique<Echo>(""));
  heard = empty.reach(Vote());
  EXPECT_EQ(heard.failure, ExitCode::Communication);
  EXPECT_EQ(heard.reason, "expects 19 or more bytes in a vote, but got 0");
}

// A process reports the error of the rank that failed.
TEST(VotingConsensus, KnowsWhoseFailureItIs) {
  onLoopback(3, [](Transport &transport) {
    auto own = transport.split(0);
    ASSERT_TRUE(own.ok());
    VotingConsensus votes(std::move(*own));
    Vote vote;
    vote.failure = votes.rank() == 1 ? ExitCode::Input : ExitCode::Ok;
    EXPECT_EQ(votes.reach(vote).failure, ExitCode::Input);
    EXPECT_EQ(votes.isReason(), votes.rank() == 1);
    EXPECT_EQ(votes.reach(Vote()).failure, ExitCode::Ok);
    EXPECT_EQ(votes.isReason(), votes.rank() == 1); // as in a last save
  });
}

TEST(VotingConsensus, ATextWithoutBoundIsAFailure) {
  VotingConsensus alone(std::move(connectLoopback(1)[0]));
  Vote vote;
  vote.text.resize((size_t(1) << 26) + 1);
  EXPECT_EQ(alone.reach(vote).failure, ExitCode::Internal);
}

} // namespace
