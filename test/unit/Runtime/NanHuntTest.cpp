//===- NanHuntTest.cpp - Which op made the first non-finite value ---------===//

#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Execute/Executor.h"

#include <deque>
#include <gtest/gtest.h>
#include <limits>

using namespace weft;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Every second element, so that strides matter: the others stay infinite.
void writeFirst(WeftContext *, const WeftCommand *, void *const *buffers) {
  float *out = static_cast<float *>(buffers[1]);
  const float *in = static_cast<const float *>(buffers[0]);
  out[0] = in[0];
  out[1] = kInf;
  out[2] = in[1];
}

void writeSecond(WeftContext *, const WeftCommand *, void *const *buffers) {
  *static_cast<double *>(buffers[0]) = std::numeric_limits<double>::quiet_NaN();
}

const int64_t kOffsets[] = {0, 64, 128};

const WeftCommand kCommands[] = {{"k_1", "h.0", nullptr, writeFirst, kOffsets,
                                  nullptr, 0, WEFT_KERNEL, 2, 0, 0, 0},
                                 {"routine", "", nullptr, writeSecond,
                                  kOffsets + 2, nullptr, 0, WEFT_KERNEL, 1, 0,
                                  0, 0}};
const WeftProgram kProgram = {"micro", "micro", kCommands, nullptr,
                              nullptr, 2,       0,         0};
const WeftExecutable kExecutable = {WEFT_ABI_VERSION, 1,   0,    0, &kProgram,
                                    nullptr,          256, "{}", 2};

const char *const kTable =
    R"({"micro": [{"at": "m.mlir:3", "ops": "log", "infinite": false,
                   "reads": [[0, "f32", [2], [1]]],
                   "writes": [[1, "f32", "y", [2], [2]]]},
                  {"at": "", "ops": "", "infinite": false, "reads": [],
                   "writes": [[0, "f64", "", [], []]]}]})";

struct HuntTest : testing::Test {
  void SetUp() override {
    std::string error;
    context = WeftContext::create(kExecutable, {}, error);
    ASSERT_TRUE(context) << error;
    auto made = NanHunt::create(*context, *parseJson(kTable, "table"));
    ASSERT_TRUE(made.ok()) << made.error().str();
    hunt = std::move(*made);
  }
  std::string run(float first, float second, bool good) {
    float *in = static_cast<float *>(context->at(0));
    in[0] = first;
    in[1] = second;
    hunt->begin();
    EXPECT_TRUE(runProgram(*context, kProgram));
    return hunt->finish(good);
  }
  std::unique_ptr<WeftContext> context;
  std::unique_ptr<NanHunt> hunt;
};

} // namespace

TEST_F(HuntTest, namesOpPlaceAndTensor) {
  EXPECT_EQ(run(1.0f, -kInf, false),
            "k_1 (log) in h.0 at m.mlir:3, program micro, made the first -inf: "
            "element 1 of F32[2] 'y'");
  EXPECT_EQ(run(1.0f, 2.0f, false),
            "routine, program micro, made the first nan: element 0 of F64[]");
}

TEST_F(HuntTest, passesOverWhatGoodStepsMake) {
  EXPECT_EQ(run(kInf, 1.0f, true), "");
  EXPECT_EQ(run(kInf, 1.0f, false), "");
  EXPECT_EQ(run(1.0f, kInf, false), "");
}

TEST_F(HuntTest, eachStepBeginsAnew) {
  EXPECT_NE(run(kInf, 1.0f, false), "");
  EXPECT_EQ(run(1.0f, 1.0f, false).substr(0, 8), "routine,");
}

// The routine works in bytes that hold what k_1 made on purpose: it read none
// of it, so its own number comes before that of k_2.
TEST(Hunt, aWorkspaceIsNoInput) {
  const char *const table =
      R"({"micro": [{"at": "", "ops": "", "infinite": false,
                     "reads": [[0, "f32", [2], [1]]],
                     "writes": [[1, "f32", "y", [2], [2]]]},
                    {"at": "", "ops": "", "infinite": false,
                     "reads": [[1, "f32", [2], [1]]],
                     "writes": [[0, "f64", "", [], []]]},
                    {"at": "", "ops": "", "infinite": false,
                     "reads": [[0, "f32", [2], [1]]],
                     "writes": [[1, "f32", "z", [2], [2]]]}]})";
  const int64_t routine[] = {128, 0, 64}, last[] = {0, 192};
  WeftCommand commands[] = {kCommands[0], kCommands[1], kCommands[0]};
  commands[1].offsets = routine;
  commands[1].numBuffers = 3;
  commands[1].workspaceBytes = 64;
  commands[2].name = "k_2";
  commands[2].offsets = last;
  WeftProgram program = kProgram;
  program.commands = commands;
  program.numCommands = 3;
  WeftExecutable executable = kExecutable;
  executable.programs = &program;
  std::string error;
  auto context = WeftContext::create(executable, {}, error);
  ASSERT_TRUE(context) << error;
  auto hunt = NanHunt::create(*context, *parseJson(table, "table"));
  ASSERT_TRUE(hunt.ok()) << hunt.error().str();
  WeftProgram beginning = program;
  beginning.numCommands = 1;
  auto run = [&](const WeftProgram &part, bool good) {
    static_cast<float *>(context->at(0))[1] = kInf;
    (*hunt)->begin();
    EXPECT_TRUE(runProgram(*context, part));
    return (*hunt)->finish(good);
  };
  run(beginning, /*good=*/true);
  EXPECT_EQ(run(program, /*good=*/false),
            "routine, program micro, made the first nan: element 0 of F64[]");
}

// The second element that k_1 writes is the third of a flat gradient.
TEST(Hunt, namesTheSegmentOfAFlatState) {
  const int64_t dims[] = {4}, sizes[] = {2, 1};
  const WeftSegment segments[] = {{"a", "", 0, nullptr, 0, 1},
                                  {"b", "", 2, sizes, 1, 3}};
  const WeftTensor flat = {"y",  "", "", WEFT_GRADIENT, WEFT_F32, 1, 0,
                           dims, 64, 16, "grad",        segments, 2, 1};
  WeftExecutable executable = kExecutable;
  executable.numTensors = 1;
  executable.tensors = &flat;
  std::string error;
  auto context = WeftContext::create(executable, {}, error);
  ASSERT_TRUE(context) << error;
  auto hunt = NanHunt::create(*context, *parseJson(kTable, "table"));
  ASSERT_TRUE(hunt.ok()) << hunt.error().str();
  static_cast<float *>(context->at(0))[1] = kInf;
  (*hunt)->begin();
  EXPECT_TRUE(runProgram(*context, kProgram));
  EXPECT_EQ((*hunt)->finish(false),
            "k_1 (log) in h.0 at m.mlir:3, program micro, made the first inf: "
            "element 1 of F32[2, 1] 'b.grad'");
}

// The second of two weights in one buffer that is read as a whole.
TEST(Hunt, namesTheWeightOfAFlatState) {
  const int64_t dims[] = {2};
  const WeftSegment segments[] = {{"a", "", 0, nullptr, 0, 1},
                                  {"b", "", 0, nullptr, 1, 2}};
  const WeftTensor flat = {"x",  "", "", WEFT_PARAM, WEFT_F32, 1, 1,
                           dims, 0,  8,  "",         segments, 2, 1};
  WeftExecutable executable = kExecutable;
  executable.numTensors = 1;
  executable.tensors = &flat;
  std::string error;
  auto context = WeftContext::create(executable, {}, error);
  ASSERT_TRUE(context) << error;
  auto hunt = NanHunt::create(*context, *parseJson(kTable, "table"));
  ASSERT_TRUE(hunt.ok()) << hunt.error().str();
  static_cast<float *>(context->at(0))[1] = kInf;
  (*hunt)->begin();
  EXPECT_TRUE(runProgram(*context, kProgram));
  EXPECT_EQ((*hunt)->finish(false), "weight 'b' came in with inf in element 0");
}

//===----------------------------------------------------------------------===//
// What was written over, and what is read
//===----------------------------------------------------------------------===//

namespace {

/// Elements 0 and 2 of the last buffer.
template <bool isFinite>
void writeTwo(WeftContext *, const WeftCommand *command, void *const *buffers) {
  float *out = static_cast<float *>(buffers[command->numBuffers - 1]);
  out[0] = out[2] = isFinite ? 0.0f : kInf;
}

/// Reads the buffers at all offsets but the last, as `read` says, and writes
/// that one as `written` does, ends of entries of the table.
struct Made {
  const char *name;
  bool isFinite;
  std::vector<int64_t> offsets;
  const char *written;
  const char *read = R"("f32", [4], [1])";
  bool updates = false; // reads the last one, too
};

std::string rowText(size_t buffer, const char *end) {
  return "[" + std::to_string(buffer) + ", " + end + "]";
}

/// Its entry of the table.
std::string tableEntry(const Made &made) {
  std::string reads;
  const size_t last = made.offsets.size() - 1;
  for (size_t i = 0; i < last + made.updates; ++i)
    reads += (i > 0 ? ", " : "") + rowText(i, made.read);
  return R"({"at": "", "ops": "", "infinite": false, "reads": [)" + reads +
         R"(], "writes": [)" + rowText(last, made.written) + "]}";
}

/// Programs of such commands, run one after the other.
class MadeRun {
public:
  void add(const char *program, const std::vector<Made> &list,
           const WeftPort *input = nullptr) {
    auto &made = commands.emplace_back();
    table += std::string(table.empty() ? "{" : ", ") + "\"" + program + "\": [";
    for (const Made &each : list) {
      const int32_t count = int32_t(each.offsets.size());
      offsets.push_back(each.offsets);
      WeftLibraryFn routine = each.isFinite ? writeTwo<true> : writeTwo<false>;
      made.push_back({each.name, "", nullptr, routine, offsets.back().data(),
                      nullptr, 0, WEFT_KERNEL, count, 0, 0, 0});
      table += (made.size() > 1 ? ", " : "") + tableEntry(each);
    }
    table += "]";
    programs.push_back({program, program, made.data(), input, nullptr,
                        int32_t(made.size()), input != nullptr, 0});
  }

  /// The name of the command that a bad step blames, after a good one of the
  /// first command alone, which makes its infinity on purpose.
  std::string blamed() {
    WeftExecutable executable = kExecutable;
    executable.numPrograms = int32_t(programs.size());
    executable.programs = programs.data();
    std::string error;
    auto context = WeftContext::create(executable, {}, error);
    EXPECT_TRUE(context) << error;
    auto hunt = NanHunt::create(*context, *parseJson(table + "}", "table"));
    EXPECT_TRUE(hunt.ok()) << hunt.error().str();
    WeftProgram mask = programs[0];
    mask.numCommands = 1;
    (*hunt)->begin();
    EXPECT_TRUE(runProgram(*context, mask));
    EXPECT_EQ((*hunt)->finish(/*good=*/true), "");
    (*hunt)->begin();
    for (const WeftProgram &program : programs)
      EXPECT_TRUE(runProgram(*context, program));
    std::string text = (*hunt)->finish(/*good=*/false);
    return text.substr(0, text.find(','));
  }

private:
  std::deque<std::vector<WeftCommand>> commands;
  std::deque<std::vector<int64_t>> offsets;
  std::vector<WeftProgram> programs;
  std::string table;
};

const char *const kDense = R"("f32", "y", [4], [1])";
const char *const kColumn = R"("f32", "y", [2], [2])";
const Made kMask = {"mask", false, {0, 64}, kDense};
/// Reads finite values, and comes last.
const Made kLast = {"last", false, {0, 192}, kDense};

} // namespace

TEST(Taint, inputsAreWrittenByTheHost) {
  const WeftPort port = {"lr", WEFT_F64, 0, nullptr, 64, 8};
  MadeRun run;
  run.add("micro", {kMask});
  run.add("apply",
          {{"update", false, {64, 128}, kDense, R"("f64", [], [])"}, kLast},
          &port);
  EXPECT_EQ(run.blamed(), "update");
}

TEST(Taint, integersAreFinite) {
  MadeRun run;
  run.add("micro", {kMask,
                    {"ids", true, {0, 64}, R"("i64", "", [2], [1])"},
                    {"gather", false, {64, 128}, kDense},
                    kLast});
  EXPECT_EQ(run.blamed(), "gather");
}

// An update passes on what was in its buffer before.
TEST(Taint, whatIsUpdatedIsRead) {
  for (bool updates : {false, true}) {
    Made update = {"update", false, {0, 64}, kDense};
    update.updates = updates;
    MadeRun run;
    run.add("micro", {kMask, update, kLast});
    EXPECT_EQ(run.blamed(), updates ? "last" : "update");
  }
}

// The mask lies in the bytes [64, 80).
TEST(Taint, allElementsAreRead) {
  for (auto [offset, blamed] : {std::pair<int64_t, const char *>{48, "reader"},
                                {52, "last"},
                                {76, "last"},
                                {80, "reader"}}) {
    MadeRun run;
    run.add("micro", {kMask, {"reader", false, {offset, 128}, kDense}, kLast});
    EXPECT_EQ(run.blamed(), blamed) << offset;
  }
}

// Rows of two elements around the mask, through it, and none.
TEST(Taint, rowsAreRead) {
  for (auto [rows, blamed] : {std::pair<const char *, const char *>{
                                  R"("f32", [2, 2], [8, 1])", "reader"},
                              {R"("f32", [2, 2], [4, 1])", "last"},
                              {R"("f32", [2, 3], [6, 1])", "last"},
                              {R"("f32", [0, 8], [8, 1])", "reader"},
                              {R"("f32", [8, 0], [1, 1])", "reader"}}) {
    MadeRun run;
    run.add("micro",
            {kMask, {"reader", false, {56, 128}, kDense, rows}, kLast});
    EXPECT_EQ(run.blamed(), blamed) << rows;
  }
}

TEST(Taint, whatLiesBetweenColumnsStaysFinite) {
  MadeRun run;
  run.add("micro", {{"mask", false, {0, 64}, kColumn},
                    {"reader", false, {68, 128}, kDense, R"("f32", [2], [2])"},
                    kLast});
  EXPECT_EQ(run.blamed(), "reader");
}

TEST(Taint, whatLiesBetweenColumnsStaysTainted) {
  MadeRun run;
  run.add("micro", {kMask,
                    {"part", true, {0, 68}, kColumn},
                    {"reader", false, {72, 128}, kDense},
                    kLast});
  EXPECT_EQ(run.blamed(), "last");
}

TEST(Hunt, refusesATableOfOtherCommands) {
  std::string error;
  auto context = WeftContext::create(kExecutable, {}, error);
  auto expectError = [&](const std::string &table, const char *message) {
    auto hunt = NanHunt::create(*context, *parseJson(table, "table"));
    ASSERT_FALSE(hunt.ok()) << table;
    EXPECT_EQ(hunt.error().code(), ExitCode::Internal);
    EXPECT_NE(hunt.error().str().find(message), std::string::npos)
        << hunt.error().str();
  };
  expectError(R"({"micro": []})", "the metadata's debug_nan does not describe "
                                  "the commands of program micro");
  auto expectRowError = [&](const char *lists, const char *message) {
    expectError(R"({"micro": [{"at": "", "ops": "", "infinite": false, )" +
                    std::string(lists) + R"(}, {}]})",
                message);
  };
  const char *const writes = "expects [buffer, type, name, dims, strides]";
  expectRowError(R"("reads": [], "writes": [[2, "f32", "", [], []]])", writes);
  expectRowError(R"("reads": [], "writes": [[1, "i8", "", [], []]])", writes);
  expectRowError(R"("reads": [], "writes": [[1, "f32", 1, [], []]])", writes);
  expectRowError(R"("reads": [], "writes": [[1]])", "expects five fields");
  const char *const reads = "expects [buffer, type, dims, strides]";
  expectRowError(R"("reads": [[2, "f32", [], []]])", reads);
  expectRowError(R"("reads": [[1, "i8", [], []]])", reads);
  expectRowError(R"("reads": [[1, "f32", [-1], [1]]])", reads);
  expectRowError(R"("reads": [[1, "f32", [2], []]])", reads);
  expectRowError(R"("reads": [[1, "f32", "", [], []]])", "expects four fields");
}
