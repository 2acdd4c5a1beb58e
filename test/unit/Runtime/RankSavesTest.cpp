//===- RankSavesTest.cpp - Checkpoints that several ranks write -----------===//

#include "RankToy.h"

#include "weft/Runtime/Checkpoints/Checkpoint.h"

using namespace weft;

namespace {

/// An action at a place of a save, before or after the ranks' vote there.
struct Event {
  Place::Kind kind;
  int rank;
  bool isAfter;
  std::function<void(const Decision *)> act;
};

/// An consensus with an event on the way.
class Eventful final : public Consensus {
public:
  Eventful(Consensus &inner, const Event &event) : inner(inner), event(event) {}
  int rank() const override { return inner.rank(); }
  int ranks() const override { return inner.ranks(); }
  Decision reach(const Vote &vote) override {
    const bool isHere = event.act && vote.place.kind == event.kind &&
                        rank() == event.rank && vote.place.step == 2;
    if (isHere && !event.isAfter)
      event.act(nullptr);
    Decision decision = inner.reach(vote);
    if (isHere && event.isAfter)
      event.act(&decision);
    return decision;
  }

private:
  Consensus &inner;
  const Event &event;
};

const Place::Kind kPhases[] = {Place::SaveBegun, Place::SaveWritten,
                               Place::SaveCommitted};

class RankSavesTest : public RankTest {
protected:
  /// Fills the rank's state with values that depend on rank and step.
  static void fillState(WeftContext &context, int64_t step) {
    for (int i = 0; i < 3; ++i)
      static_cast<float *>(context.at(0))[i] = float(step * 10 + i);
    *static_cast<float *>(context.at(128)) =
        float(step * 10 + 5 + context.rank());
  }

  /// Saves step 1, and step 2 with an event on the way; the results of the
  /// second save, by rank.
  std::vector<RankEnd> saveTwice(const Event &event) {
    ThreadRanks all(kToyRanks);
    std::vector<RankEnd> ends(kToyRanks);
    all.run([&](Consensus &consensus) {
      Eventful eventful(consensus, event);
      RankEnd &end = ends[size_t(consensus.rank())];
      auto context = contextOf(consensus.rank());
      CheckpointWriter writer(*context, metadata, RunRecord(), saves(), faults,
                              eventful);
      for (int64_t step : {1, 2}) {
        fillState(*context, step);
        TrainState state;
        state.step = step;
        auto saved = writer.save(state);
        end = {saved ? 0 : saved.error().exitStatus(),
               saved ? *saved : saved.error().where(), step};
        if (!saved)
          return;
      }
    });
    return ends;
  }

  /// The elements of a tensor of a step, from whatever files they lie in.
  std::vector<float> valuesOf(int64_t step, const std::string &name) {
    auto reader =
        CheckpointReader::open(path("saves/") + stepDirectoryName(step));
    EXPECT_TRUE(reader.ok());
    std::vector<float> values(3, -1.0f);
    const ManifestTensor *tensor = reader->manifest().findTensor(name);
    EXPECT_TRUE(tensor) << name;
    Status read = reader->read(*tensor, 0, 3, values.data());
    EXPECT_TRUE(read.ok());
    return values;
  }
};

TEST_F(RankSavesTest, EachRankWritesWhatItAloneHolds) {
  for (const RankEnd &end : saveTwice({})) {
    EXPECT_EQ(end.code, 0) << end.error;
    EXPECT_EQ(end.error, path("saves/step_00000002"));
  }
  EXPECT_EQ(stepsOf("saves"), "1 2 ");
  EXPECT_EQ(list("saves/step_00000002"),
            (Args{"MANIFEST.json", "model.json", "rank_00000.safetensors",
                  "rank_00001.safetensors", "rank_00002.safetensors"}));
  for (int64_t step : {1, 2}) {
    const float at = float(step * 10);
    EXPECT_EQ(valuesOf(step, "w"), (std::vector<float>{at, at + 1, at + 2}));
    EXPECT_EQ(valuesOf(step, "w.exp_avg"),
              (std::vector<float>{at + 5, at + 6, at + 7}));
  }
}

/// All ranks end with that code, and step 1 is all there is.
#define EXPECT_NO_SECOND_STEP(ends, expected)                                  \
  for (const RankEnd &end : ends)                                              \
    EXPECT_EQ(end.code, expected) << end.error;                                \
  EXPECT_EQ(stepsOf("saves"), "1 ")

TEST_F(RankSavesTest, AFileThatCannotBeWrittenEndsTheSaveOfAll) {
  for (int rank = 0; rank < kToyRanks; ++rank) {
    std::filesystem::remove_all(path("saves"));
    auto ends =
        saveTwice({Place::SaveBegun, rank, true, [&](const Decision *begun) {
                     std::filesystem::create_directory(
                         begun->texts[0] + "/rank_0000" + std::to_string(rank) +
                         ".safetensors");
                   }});
    EXPECT_NO_SECOND_STEP(ends, 8);
    EXPECT_EQ(ends[size_t((rank + 1) % kToyRanks)].error,
              "rank " + std::to_string(rank) + " cannot continue");
  }
}

TEST_F(RankSavesTest, ADirectoryThatCannotBeMadeEndsTheSaveOfAll) {
  std::filesystem::create_directories(path("saves/step_00000002"));
  auto ends = saveTwice({});
  for (const RankEnd &end : ends)
    EXPECT_EQ(end.code, 5) << end.error;
  EXPECT_EQ(stepsOf("saves"), "1 step_00000002 ");
}

TEST_F(RankSavesTest, ACommitThatFailsEndsTheSaveOfAll) {
  auto ends = saveTwice({Place::SaveWritten, 0, true, [&](const Decision *) {
                           std::filesystem::create_directories(
                               path("saves/step_00000002"));
                         }});
  for (const RankEnd &end : ends)
    EXPECT_EQ(end.code, 5) << end.error;
  EXPECT_EQ(stepsOf("saves"), "1 step_00000002 ");
}

// As on machines that do not share the file system: each sees a directory of
// that name.
TEST_F(RankSavesTest, AFileThatOnlyItsRankSeesIsNotCommitted) {
  for (bool isCut : {false, true}) {
    std::filesystem::remove_all(path("saves"));
    std::string directory;
    auto ends =
        saveTwice({Place::SaveWritten, 0, true, [&](const Decision *) {
                     for (const auto &entry :
                          std::filesystem::directory_iterator(path("saves")))
                       if (entry.path().filename().string()[0] == '.')
                         directory = entry.path();
                     const std::string file =
                         directory + "/rank_00002.safetensors";
                     if (isCut)
                       std::filesystem::resize_file(file, 9);
                     else
                       std::filesystem::remove(file);
                   }});
    EXPECT_NO_SECOND_STEP(ends, 8);
    EXPECT_EQ(ends[0].error, directory +
                                 "/rank_00002.safetensors: expects the file "
                                 "that rank 2 has written");
  }
}

// Whoever leaves in whatever phase. If it is rank 0, it takes the directory
// with it, and a rank that still writes there may say so.
TEST_F(RankSavesTest, ARankThatLeavesEndsTheSaveOfAll) {
  for (Place::Kind phase : kPhases)
    for (int rank = 0; rank < kToyRanks; ++rank)
      for (bool isAfter : {false, true}) {
        std::filesystem::remove_all(path("saves"));
        auto ends = saveTwice({phase, rank, isAfter, [](const Decision *) {
                                 throw std::bad_alloc();
                               }});
        ASSERT_TRUE(cleanTemporaries(path("saves")));
        const bool isCommitted =
            phase == Place::SaveCommitted ||
            (phase == Place::SaveWritten && isAfter && rank != 0);
        EXPECT_EQ(stepsOf("saves"), isCommitted ? "1 2 " : "1 ")
            << phase << " " << rank << isAfter;
        for (int other = 0; other < kToyRanks; ++other) {
          const int code = ends[size_t(other)].code;
          const bool isOver = phase == Place::SaveCommitted && isAfter;
          const bool writes =
              rank == 0 &&
              phase == (isAfter ? Place::SaveBegun : Place::SaveWritten);
          if (other != rank)
            EXPECT_TRUE(code == (isOver ? 0 : 7) || (writes && code == 8))
                << phase << " " << rank << isAfter << ": " << code;
        }
      }
}

// A kill of the process in whatever phase: step 1 is whole, step 2 is whole or
// not there, and the next run cleans up.
TEST_F(RankSavesTest, AKillLeavesWholeSteps) {
  for (Place::Kind phase : kPhases)
    for (int rank = 0; rank < kToyRanks; ++rank)
      for (bool isAfter : {false, true}) {
        std::filesystem::remove_all(path("saves"));
        const pid_t child = fork();
        if (child == 0) {
          saveTwice({phase, rank, isAfter,
                     [](const Decision *) { kill(getpid(), SIGKILL); }});
          _exit(0);
        }
        EXPECT_EQ(wait(child), 1000 + SIGKILL);
        ASSERT_TRUE(cleanTemporaries(path("saves")));
        const std::string steps = stepsOf("saves");
        const bool mayBeThere = phase == Place::SaveCommitted ||
                                (phase == Place::SaveWritten && isAfter);
        EXPECT_TRUE(steps == "1 " || (mayBeThere && steps == "1 2 "))
            << phase << " " << rank << isAfter << ": " << steps;
        if (phase == Place::SaveCommitted && (rank == 0 || isAfter))
          EXPECT_EQ(steps, "1 2 ");
      }
}

} // namespace
