//===- CudaRanksTest.cpp - CUDA devices of ranks --------------------------===//

#include "CudaDeviceFixture.h"

#include "weft/Abi/CollectiveRecords.h"

#include <cstring>

using namespace weft;

namespace {
/// The meetings of rank 0 of three, which nobody comes to.
class FakeMeetings final : public RankMeetings {
  Expected<Place> placeIn(int64_t) const override { return Place{0, 3}; }
  Status gatherBytes(int64_t, const void *, void *, int64_t,
                     std::string_view title) override {
    return Error(ExitCode::Communication, "nobody in " + std::string(title));
  }
};
} // namespace

TEST_F(CudaDeviceTest, AnExchangeNamesWhatIsWrong) {
  ASSERT_TRUE(open());
  auto &device = static_cast<CudaDevice &>(context->device());
  WeftRankGroup among = {0, 3, 0};
  char *arena = static_cast<char *>(device.arenaAddress());
  auto error = [&] {
    WeftCommand command = {};
    command.name = "gather";
    command.scope = "";
    Status status = device.exchange(command, {among, arena, 0, arena + kW, 4});
    return status ? ""
                  : std::to_string(status.error().exitStatus()) + ": " +
                        status.error().message();
  };
  EXPECT_EQ(error(), "70: expects ranks that are joined");
  ASSERT_TRUE(device.join(std::make_shared<FakeMeetings>()));
  EXPECT_EQ(error(), "7: nobody in gather, 4 bytes");
  among.ranks = 2;
  EXPECT_EQ(error(), "70: expects 2 ranks, but got 3");
}

namespace {
/// Rank 0 of three, whose peers say the same of their devices but for a byte of
/// the UUID and the name.
class DeviceMeetings final : public RankMeetings {
public:
  DeviceMeetings(std::vector<char> uuids, std::string last)
      : uuids(std::move(uuids)), last(std::move(last)) {}
  Expected<Place> placeIn(int64_t) const override { return Place{0, 3}; }

  bool lastIsHere = true; // whether rank 2 is on the machine of the others

private:
  Status gatherBytes(int64_t, const void *own, void *all, int64_t bytes,
                     std::string_view title) override {
    for (int rank = 0; rank < 3; ++rank) {
      char *piece = static_cast<char *>(all) + rank * bytes;
      std::memcpy(piece, own, size_t(bytes));
      if (title == "the machines of the ranks") {
        piece[0] = char(rank);
        piece[4] = rank == 2 && !lastIsHere ? '?' : piece[4];
        continue;
      }
      if (title != "the devices of the ranks")
        continue;
      piece[0] = uuids[size_t(rank)];
      if (rank == 2)
        std::strncpy(piece + 16, last.c_str(), 64);
    }
    return Status::success();
  }

  const std::vector<char> uuids;
  const std::string last;
};
} // namespace

// A rank that sees several devices takes the one with its number.
TEST_F(CudaDeviceTest, RanksTakeTheirDevices) {
  options.ranks = 3;
  options.ranksAreProcesses = true;
  options.ranksOfMachine = 3;
  for (const auto &[localRank, devices, chosen] :
       {std::tuple(0, 1, 0), {2, 1, 0}, {0, 3, 0}, {2, 3, 2}}) {
    options.localRank = localRank;
    fake.devices = devices;
    ASSERT_TRUE(open());
    EXPECT_EQ(fake.chosen, chosen) << localRank << " of " << devices;
    context.reset();
  }
  options.localRank = 2;
  fake.devices = 2;
  EXPECT_EQ(openError(),
            "9: expects a device for each of 3 ranks of this machine, but got "
            "2|CUDA_VISIBLE_DEVICES selects devices of the machine");
}

TEST_F(CudaDeviceTest, RanksHaveDevicesOfTheirOwnOfOneKind) {
  options.ranks = 3;
  options.ranksAreProcesses = true;
  auto joinError = [&](std::vector<char> uuids, const char *last) {
    EXPECT_TRUE(open());
    Status status = context->device().join(
        std::make_shared<DeviceMeetings>(std::move(uuids), last));
    context.reset();
    return status ? "" : status.error().message();
  };
  EXPECT_EQ(joinError({1, 2, 1}, "Fake GPU"),
            "expects a device for each rank, but ranks 0 and 2 have the same "
            "Fake GPU");
  EXPECT_EQ(joinError({1, 2, 3}, "Other GPU"),
            "expects devices of one kind, but got Fake GPU in rank 0 and Other "
            "GPU in rank 2");
}

// The library between the devices is absent: the warning comes before.
TEST_F(CudaDeviceTest, WarnsOfOrderedReductionsBetweenMachines) {
  options.ranks = 3;
  options.ranksAreProcesses = true;
  WeftReduceScatterRecord record = {{0, 3, 0}, WEFT_F32, 1, 1, 3, 0};
  commands[1].name = "reduce_scatter";
  commands[1].kind = WEFT_EXTENSION;
  commands[1].record = &record;
  commands[1].recordBytes = sizeof record;
  build();
  auto warningOf = [&](bool lastIsHere) {
    EXPECT_TRUE(open());
    auto meetings = std::make_shared<DeviceMeetings>(std::vector<char>{1, 2, 3},
                                                     "Fake GPU");
    meetings->lastIsHere = lastIsHere;
    testing::internal::CaptureStderr();
    EXPECT_FALSE(context->device().join(std::move(meetings)));
    context.reset();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(warningOf(true), "");
  EXPECT_EQ(
      warningOf(false),
      "weft: warning: ranks 0 and 2 are on different machines, but their "
      "reductions are ordered\nhint: weft compile --reduction=native lets "
      "NCCL add between machines\n");
  record.native = 1;
  EXPECT_EQ(warningOf(false), "");
}

TEST_F(CudaDeviceTest, RefusesStreamsThatDoNotExist) {
  for (int64_t stream : {int64_t(-1), int64_t(64)}) {
    const WeftAllGatherRecord record = {{0, 2, stream}, WEFT_F32, 1};
    commands[1].name = "all_gather";
    commands[1].kind = WEFT_EXTENSION;
    commands[1].record = &record;
    commands[1].recordBytes = sizeof record;
    build();
    EXPECT_EQ(openError(), "70: all_gather: expects a stream from 0 to 63, but "
                           "got " +
                               std::to_string(stream) + "|");
  }
}
