//===- SegmentsTest.cpp - Tensors by name, wherever they lie --------------===//

#include "ToyTool.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Run/Entry.h"
#include "weft/Runtime/Run/Trainer.h"

#include <cstring>

using namespace weft;

namespace {

using Gaps = std::vector<std::pair<int64_t, int64_t>>;

const int64_t kMatrix[] = {2, 3}, kVector[] = {5};
const int64_t kFlat[] = {16}, kShard[] = {8};

/// a [2, 3] at 1 to 7, b [5] at 8 to 13, a scalar c at 13 to 14; of 16.
const WeftSegment kSegments[] = {{"a", "layers.a", 2, kMatrix, 1, 7},
                                 {"b", "", 1, kVector, 8, 13},
                                 {"c", "", 0, nullptr, 13, 14}};

/// A weight of its own, a flat state of f32 at byte 64, and one of half as
/// many elements in two slices at byte 128.
struct Tables {
  std::vector<WeftSegment> segments{kSegments, kSegments + 3};
  std::vector<WeftTensor> tensors;
  WeftExecutable executable = {};

  Tables() {
    tensors = {{"w", "", "", WEFT_PARAM, WEFT_F32, 1, 1, kVector, 0, 20, "",
                nullptr, 0, 1},
               {"flat", "", "", WEFT_PARAM, WEFT_F32, 1, 1, kFlat, 64, 64, "",
                segments.data(), 3, 1},
               {"shard", "flat", "", WEFT_OPTIMIZER, WEFT_F32, 1, 1, kShard,
                128, 32, "exp_avg", segments.data(), 3, 2}};
    executable.abiVersion = WEFT_ABI_VERSION;
    executable.numTensors = 3;
    executable.tensors = tensors.data();
    executable.arenaBytes = 160;
  }
  Tables(const Tables &) = delete;
};

std::string textOf(const std::vector<NamedTensor> &list) {
  std::string text;
  for (const NamedTensor &tensor : list)
    text += tensor.name + shapeText(tensor.shape) + "<" + tensor.param + "," +
            tensor.source + "> ";
  return text;
}

TEST(Segments, Names) {
  Tables tables;
  EXPECT_EQ(textOf(namedTensors(tables.executable)),
            "w[5]<,> a[2, 3]<,layers.a> b[5]<,> c[]<,> "
            "a.exp_avg[2, 3]<a,layers.a> b.exp_avg[5]<b,> c.exp_avg[]<c,> ");
  EXPECT_EQ(namedTensors(tables.executable, WEFT_OPTIMIZER).size(), 3u);
  EXPECT_EQ(namedTensors(tables.executable, WEFT_GRADIENT).size(), 0u);
  // Gaps between segments are not saved.
  EXPECT_EQ(checkpointBytes(tables.executable), 4 * (5 + 12 + 12));
}

std::string heldText(const NamedTensor &tensor, int64_t rank) {
  HeldRange held = heldBy(tensor, rank);
  return "[" + std::to_string(held.begin) + ", " + std::to_string(held.end) +
         ") at " + std::to_string(held.offset);
}

TEST(Segments, WholeTensorsAreHeldByEveryRank) {
  Tables tables;
  auto list = namedTensors(tables.executable);
  for (int64_t rank : {0, 1, 7}) {
    EXPECT_EQ(heldText(list[0], rank), "[0, 5) at 0");
    EXPECT_EQ(heldText(list[1], rank), "[0, 6) at 68");
    EXPECT_EQ(heldText(list[2], rank), "[0, 5) at 96");
    EXPECT_EQ(heldText(list[3], rank), "[0, 1) at 116");
  }
}

// Every element of a parameter is in one slice, and a slice begins where the
// rank's number says: nothing of it is in the tables.
TEST(Segments, SlicesFollowFromTheRank) {
  Tables tables;
  auto list = namedTensors(tables.tensors[2]);
  EXPECT_EQ(heldText(list[0], 0), "[0, 6) at 132");
  EXPECT_EQ(heldText(list[1], 0), "[0, 0) at 128");
  EXPECT_EQ(heldText(list[0], 1), "[0, 0) at 128");
  EXPECT_EQ(heldText(list[1], 1), "[0, 5) at 128");
  EXPECT_EQ(heldText(list[2], 1), "[0, 1) at 148");
  // Ranks 2 and 3 hold the same again.
  EXPECT_EQ(heldText(list[1], 3), heldText(list[1], 1));
  // In four slices b is in two of them.
  const int64_t quarter[] = {4};
  tables.tensors[2].dims = quarter;
  tables.tensors[2].bytes = 16;
  tables.tensors[2].slices = 4;
  EXPECT_EQ(heldText(list[0], 1), "[3, 6) at 128");
  EXPECT_EQ(heldText(list[1], 2), "[0, 4) at 128");
  EXPECT_EQ(heldText(list[1], 3), "[4, 5) at 128");
  EXPECT_EQ(heldText(list[2], 3), "[0, 1) at 132");
}

TEST(Segments, Gaps) {
  Tables tables;
  EXPECT_EQ(gapsOf(tables.tensors[0], 0), Gaps());
  EXPECT_EQ(gapsOf(tables.tensors[1], 0),
            (Gaps{{64, 68}, {92, 96}, {120, 128}}));
  EXPECT_EQ(gapsOf(tables.tensors[2], 0), (Gaps{{128, 132}, {156, 160}}));
  EXPECT_EQ(gapsOf(tables.tensors[2], 1), (Gaps{{152, 160}}));
  ContextOptions options;
  options.rank = 1;
  options.ranks = 2;
  options.poisoned = true;
  std::string error;
  auto context = WeftContext::create(tables.executable, options, error);
  ASSERT_TRUE(context) << error;
  ASSERT_TRUE(clearGaps(*context));
  const char zeros[8] = {};
  EXPECT_EQ(std::memcmp(context->at(120), zeros, 8), 0);
  EXPECT_EQ(std::memcmp(context->at(152), zeros, 8), 0);
  EXPECT_EQ(*static_cast<unsigned char *>(context->at(116)), 0xFF);
}

/// The error of the tables after `change`, for that many ranks.
template <typename Change>
std::string errorAfter(Change change, int ranks = 2) {
  Tables tables;
  change(tables);
  ContextOptions options;
  options.ranks = ranks;
  std::string error;
  auto context = WeftContext::create(tables.executable, options, error);
  EXPECT_EQ(context == nullptr, !error.empty());
  return error;
}

TEST(Segments, WrongTables) {
  EXPECT_EQ(errorAfter([](Tables &) {}), "");
  EXPECT_EQ(errorAfter([](Tables &) {}, 4), "");
  EXPECT_EQ(errorAfter([](Tables &) {}, 1),
            "expects a number of ranks that the shards of tensor 'shard' "
            "divide, but got 1 rank for 2 shards");
  EXPECT_EQ(errorAfter([](Tables &t) { t.tensors[1].slices = 0; }),
            "expects a number of ranks that the shards of tensor 'flat' "
            "divide, but got 2 ranks for 0 shards");
  EXPECT_EQ(errorAfter([](Tables &t) { t.tensors[1].numSegments = -1; }),
            "expects at least 0 segments in tensor 'flat', but got -1");
  EXPECT_EQ(errorAfter([](Tables &t) { t.segments[0].end = 8; }),
            "expects as many elements as its shape [2, 3] has in segment 'a' "
            "of tensor 'flat', but got [1, 8)");
  EXPECT_EQ(errorAfter([](Tables &t) { t.segments[1].end = 5; }),
            "expects as many elements as its shape [5] has in segment 'b' of "
            "tensor 'flat', but got [8, 5)");
  EXPECT_EQ(errorAfter([](Tables &t) {
              t.segments[0].begin = -2;
              t.segments[0].end = 4;
            }),
            "expects as many elements as its shape [2, 3] has in segment 'a' "
            "of tensor 'flat', but got [-2, 4)");
  EXPECT_EQ(errorAfter([](Tables &t) {
              t.segments[1].begin = 6;
              t.segments[1].end = 11;
            }),
            "expects segment 'b' of tensor 'flat' after element 7, but got "
            "[6, 11)");
  EXPECT_EQ(errorAfter([](Tables &t) {
              t.segments[2].begin = 16;
              t.segments[2].end = 17;
            }),
            "expects segments inside the 1 x 16 elements of tensor 'flat', "
            "but got one that ends at 17");
  EXPECT_EQ(errorAfter([](Tables &t) { t.segments[1].param = "a"; }),
            "expects each tensor in one place, but got a second 'a'");
  EXPECT_EQ(errorAfter([](Tables &t) { t.segments[1].param = "w"; }),
            "expects each tensor in one place, but got a second 'w'");
}

// One rank cannot run a program for two.
TEST(Segments, ProgramsRefuseWrongTables) {
  Tables tables;
  const std::string metadata =
      R"({"format":1,"weft":"1","name":"toy","family":"mlir","fingerprint":"f",)"
      R"("target":"cpu","batch":1,"accumulation":true,"clip_norm":null})";
  tables.executable.metadata = metadata.data();
  tables.executable.metadataBytes = int64_t(metadata.size());
  std::string name = "toy", flag = "--version";
  char *argv[] = {name.data(), flag.data()};
  testing::internal::CaptureStderr();
  EXPECT_EQ(weftMain(tables.executable, 2, argv), 70);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "expects a number of ranks that the shards of tensor 'shard' "
                "divide, but got 1 rank for 2 shards"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// One rank cannot do the work of the others
//===----------------------------------------------------------------------===//

class RanksTest : public ToyTest {
protected:
  std::unique_ptr<WeftContext> contextOf(int rank, int ranks) {
    ContextOptions options;
    options.rank = rank;
    options.ranks = ranks;
    std::string error;
    auto context = WeftContext::create(tables.executable, options, error);
    EXPECT_TRUE(context) << error;
    return context;
  }
  Tables tables;
};

// Test/Dist/dump-grads.test covers runs whose ranks all respond.
TEST_F(RanksTest, GradientsAreThoseOfAllRanks) {
  tables.tensors[2].kind = WEFT_GRADIENT;
  Status part = writeGradients(*contextOf(1, 2), path("grads"));
  ASSERT_FALSE(part.ok());
  EXPECT_EQ(part.error().code(), ExitCode::Communication);
  EXPECT_EQ(part.error().where(),
            "expects rank 1 in the dump of gradients, but it has left the run");
  EXPECT_FALSE(exists("grads"));
}

TEST_F(RanksTest, RowsAreCountedForAll) {
  Metadata metadata;
  metadata.batch = 4;
  RunOptions options;
  options.accum = 2;
  options.steps = mostRows / 16;
  EXPECT_TRUE(checkRowCount(TrainState(), options, metadata, 2).ok());
  Status four = checkRowCount(TrainState(), options, metadata, 4);
  ASSERT_FALSE(four.ok());
  EXPECT_NE(four.error().where().find("2 x 4 x 4 rows"), std::string::npos)
      << four.error().where();
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

class SegmentsOnDisk : public ToyTest {
protected:
  /// Writes the pieces of a and b, which number their elements, as two ranks do
  /// that cut them elsewhere.
  void SetUp() override {
    ToyTest::SetUp();
    std::filesystem::create_directory(path("step"));
    manifest.tensors = {
        {"a",
         "param",
         TensorType::F32,
         {2, 3},
         {{"r0", "a[0:4)", 0, 4}, {"r1", "a[4:6)", 4, 6}}},
        {"b", "param", TensorType::F32, {5}, {{"r1", "b", 0, 5}}},
        {"c", "param", TensorType::F32, {}, {{"r0", "c", 0, 1}}}};
    writeFileOf("r0",
                {{"a[0:4)", TensorType::F32, {4}}, {"c", TensorType::F32, {}}},
                {10, 11, 12, 13, 30});
    writeFileOf("r1",
                {{"a[4:6)", TensorType::F32, {2}}, {"b", TensorType::F32, {5}}},
                {14, 15, 20, 21, 22, 23, 24});
    ASSERT_TRUE(manifest.write(path("step")).ok());
  }
  void writeFileOf(const std::string &name,
                   const std::vector<TensorSpec> &specs,
                   const std::vector<float> &values) {
    auto writer = SafetensorsWriter::create(path("step/" + name), specs);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->write(values.data(), int64_t(values.size() * 4)).ok());
    ASSERT_TRUE(writer->finish().ok());
    manifest.files.push_back({name, writer->digest()});
  }
  Manifest manifest;
};

/// The floats of the tensor after rank `rank` of `slices` has loaded the step.
std::vector<float> load(const std::string &step, const Manifest &manifest,
                        int rank, int slices, int64_t elements) {
  const WeftTensor flat = {
      "flat",    "", "",           WEFT_PARAM, WEFT_F32,  1, 1,
      &elements, 0,  elements * 4, "",         kSegments, 3, slices};
  WeftExecutable executable = {};
  executable.abiVersion = WEFT_ABI_VERSION;
  executable.numTensors = 1;
  executable.tensors = &flat;
  executable.arenaBytes = flat.bytes;
  ContextOptions options;
  options.rank = rank;
  options.ranks = slices;
  options.poisoned = true;
  std::string error;
  auto context = WeftContext::create(executable, options, error);
  EXPECT_TRUE(context) << error;
  ResumePoint point{step, manifest, StepGuard::ofReader(step), false, {}};
  Status loaded = loadCheckpoint(*context, point);
  EXPECT_TRUE(loaded.ok()) << loaded.error().where();
  const float *values = static_cast<float *>(context->at(0));
  return std::vector<float>(values, values + elements);
}

// Whoever wrote the pieces, a rank takes the elements of its slice, and gaps
// are zero.
TEST_F(SegmentsOnDisk, LoadIntoSlices) {
  using Values = std::vector<float>;
  const Values whole = {0,  10, 11, 12, 13, 14, 15, 0,
                        20, 21, 22, 23, 24, 30, 0,  0};
  EXPECT_EQ(load(path("step"), manifest, 0, 1, 16), whole);
  for (int slices : {2, 4, 16})
    for (int rank = 0; rank < slices; ++rank) {
      const int64_t count = 16 / slices;
      EXPECT_EQ(load(path("step"), manifest, rank, slices, count),
                Values(whole.begin() + rank * count,
                       whole.begin() + (rank + 1) * count))
          << rank << " of " << slices;
    }
}

} // namespace
