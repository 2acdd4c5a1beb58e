//===- NanHuntTest.cpp - Find the op of the first non-finite value --------===//

#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Execute/Context.h"

#include <cmath>
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

const WeftCommand kCommands[] = {
    {"k_1", "h.0", nullptr, nullptr, writeFirst, kOffsets, nullptr, 0,
     WEFT_KERNEL, 2, 0, 0, 0},
    {"routine", "", nullptr, nullptr, writeSecond, kOffsets + 2, nullptr, 0,
     WEFT_KERNEL, 1, 0, 0, 0}};
/// All that the commands of these tests write.
const WeftPort kLoss = {"loss", WEFT_F32, 0, nullptr, 64, 192};
const WeftProgram kProgram = {"micro", "micro", kCommands, nullptr,
                              &kLoss,  2,       0,         1};
const WeftExecutable kExecutable = {
    WEFT_ABI_VERSION, 1, 0, 0, &kProgram, nullptr, 256, "{}", 2, nullptr, 0};

const char *const kTable =
    R"({"micro": [{"at": "m.mlir:3", "ops": "log", "infinite": false,
                   "reads": [[0, "f32", [2], [1]]],
                   "writes": [[1, "f32", "y", [2], [2], []]]},
                  {"at": "", "ops": "", "infinite": false, "reads": [],
                   "writes": [[0, "f64", "", [], [], []]]}]})";

struct HuntTest : testing::Test {
  void SetUp() override { start(kExecutable, kTable); }

  void start(const WeftExecutable &started, const char *table) {
    std::string error;
    hunt = nullptr;
    executable = started;
    context = WeftContext::create(executable, {}, error);
    ASSERT_TRUE(context) << error;
    auto made = NanHunt::create(*context, *parseJson(table, "table"));
    ASSERT_TRUE(made.ok()) << made.error().str();
    hunt = std::move(*made);
  }
  void startWith(const WeftTensor *tensors, int32_t count) {
    WeftExecutable started = kExecutable;
    started.numTensors = count;
    started.tensors = tensors;
    start(started, kTable);
  }

  float *input() { return static_cast<float *>(context->at(0)); }
  std::string run(float first, float second, bool good) {
    input()[0] = first;
    input()[1] = second;
    return step(&kProgram, good);
  }
  /// A step of that program, or of nothing.
  std::string step(const WeftProgram *program, bool good) {
    EXPECT_TRUE(hunt->begin());
    EXPECT_TRUE(!program || runProgram(*context, *program));
    if (!good)
      return hunt->findCause().text;
    hunt->learn();
    return "";
  }

  WeftExecutable executable;
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

// A sum over ranks may overflow on all of them. Values that are computed from
// it are not the origin.
TEST_F(HuntTest, namesACollectiveBeforeWhatIsMadeOfItsResult) {
  static const int64_t offsets[] = {0, 64, 64, 128};
  const WeftLibraryFn overflow = [](WeftContext *, const WeftCommand *,
                                    void *const *buffers) {
    static_cast<float *>(buffers[1])[0] = kInf;
    static_cast<float *>(buffers[1])[2] = 1.0f;
  };
  const WeftLibraryFn pass = [](WeftContext *, const WeftCommand *,
                                void *const *buffers) {
    *static_cast<double *>(buffers[1]) = double(kInf);
  };
  const WeftCommand commands[] = {
      {"reduce_scatter", "", nullptr, nullptr, overflow, offsets, nullptr, 0,
       WEFT_EXTENSION, 2, 0, 0, 0},
      {"k_2", "", nullptr, nullptr, pass, offsets + 2, nullptr, 0, WEFT_KERNEL,
       2, 0, 0, 0}};
  const WeftProgram program = {"micro", "micro", commands, nullptr,
                               &kLoss,  2,       0,        1};
  WeftExecutable started = kExecutable;
  started.programs = &program;
  start(started, R"({"micro": [
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [2], [1]]],
       "writes": [[1, "f32", "y", [2], [2], []]]},
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [2], [2]]],
       "writes": [[1, "f64", "", [], [], []]]}]})");
  EXPECT_TRUE(hunt->begin());
  ASSERT_TRUE(runProgram(*context, program));
  const NanCause cause = hunt->findCause();
  EXPECT_EQ(cause.source, NanCause::Received);
  EXPECT_EQ(cause.text, "reduce_scatter, program micro, made the first inf: "
                        "element 0 of F32[2] 'y'");
  hunt = nullptr;
  context = nullptr;
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

// The routine's workspace overlaps bytes that k_1 made infinite on purpose. It
// read none of them, so its own result is reported before k_2's.
TEST_F(HuntTest, aWorkspaceIsNoInput) {
  const char *const table =
      R"({"micro": [{"at": "", "ops": "", "infinite": false,
                     "reads": [[0, "f32", [2], [1]]],
                     "writes": [[1, "f32", "y", [2], [2], []]]},
                    {"at": "", "ops": "", "infinite": false,
                     "reads": [[1, "f32", [2], [1]]],
                     "writes": [[0, "f64", "", [], [], []]]},
                    {"at": "", "ops": "", "infinite": false,
                     "reads": [[0, "f32", [2], [1]]],
                     "writes": [[1, "f32", "z", [2], [2], []]]}]})";
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
  WeftExecutable started = kExecutable;
  started.programs = &program;
  start(started, table);
  WeftProgram beginning = program;
  beginning.numCommands = 1;
  input()[1] = kInf;
  step(&beginning, /*good=*/true);
  EXPECT_EQ(step(&program, /*good=*/false),
            "routine, program micro, made the first nan: element 0 of F64[]");
}

// The second element that k_1 writes is the third of a flat gradient.
TEST_F(HuntTest, namesTheSegmentOfAFlatState) {
  const int64_t dims[] = {4}, sizes[] = {2, 1};
  const WeftSegment segments[] = {{"a", "", 0, nullptr, 0, 1},
                                  {"b", "", 2, sizes, 1, 3}};
  const WeftTensor flat = {"y",  "", "", WEFT_GRADIENT, WEFT_F32, 1, 0,
                           dims, 64, 16, "grad",        segments, 2, 1};
  startWith(&flat, 1);
  EXPECT_EQ(run(0.0f, kInf, /*good=*/false),
            "k_1 (log) in h.0 at m.mlir:3, program micro, made the first inf: "
            "element 1 of F32[2, 1] 'b.grad'");
}

// The second of two weights in one buffer that is read as a whole.
TEST_F(HuntTest, namesTheWeightOfAFlatState) {
  const int64_t dims[] = {2};
  const WeftSegment segments[] = {{"a", "", 0, nullptr, 0, 1},
                                  {"b", "", 0, nullptr, 1, 2}};
  const WeftTensor flat = {"x",  "", "", WEFT_PARAM, WEFT_F32, 1, 1,
                           dims, 0,  8,  "",         segments, 2, 1};
  startWith(&flat, 1);
  EXPECT_EQ(run(0.0f, kInf, /*good=*/false),
            "weight 'b' came in with inf in element 0");
}

/// Reads two numbers and writes their sum.
void addTwo(WeftContext *, const WeftCommand *, void *const *buffers) {
  const float *in = static_cast<const float *>(buffers[0]);
  *static_cast<float *>(buffers[1]) = in[0] + in[1];
}

/// A program of one command that adds two numbers at an offset, to another one.
struct Sum {
  Sum(const char *name, int64_t from, int64_t to)
      : offsets{from, to}, port{"loss", WEFT_F32, 0, nullptr, to, 4},
        command{"add", "",          nullptr, nullptr, addTwo, offsets, nullptr,
                0,     WEFT_KERNEL, 2,       0,       0,      0},
        program{name, name, &command, nullptr, &port, 1, 0, 1} {}

  int64_t offsets[2];
  WeftPort port;
  WeftCommand command;
  WeftProgram program;
};
const char *const kSumEntry =
    R"([{"at": "", "ops": "", "infinite": false, "reads": [[0, "f32", [2], [1]]],
         "writes": [[1, "f32", "y", [], [], []]]}])";

// An update that reads a moment from a checkpoint makes a weight of it, in a
// step that ends well; the next one does not.
TEST_F(HuntTest, namesTheMomentThatAWeightIsMadeOf) {
  const int64_t dims[] = {2}, one[] = {1};
  const WeftTensor tensors[] = {
      {"y.exp_avg", "y", "", WEFT_OPTIMIZER, WEFT_F32, 1, 1, dims, 0, 8, "",
       nullptr, 0, 1},
      {"y", "", "", WEFT_PARAM, WEFT_F32, 1, 1, one, 64, 4, "", nullptr, 0, 1}};
  Sum update("apply", 0, 64), forward("micro", 64, 128);
  const WeftProgram programs[] = {update.program, forward.program};
  WeftExecutable started = kExecutable;
  started.numPrograms = 2;
  started.programs = programs;
  started.numTensors = 2;
  started.tensors = tensors;
  start(started, (std::string(R"({"apply": )") + kSumEntry + R"(, "micro": )" +
                  kSumEntry + "}")
                     .c_str());
  input()[0] = kInf;
  EXPECT_EQ(step(&programs[0], /*good=*/true), "");
  input()[0] = 0.0f;
  EXPECT_EQ(step(&programs[1], /*good=*/false),
            "state 'y.exp_avg' came in with inf in element 0");
}

// The moment comes first, but the loss does not depend on it.
TEST_F(HuntTest, namesWhatReachesTheLoss) {
  const int64_t dims[] = {1};
  const WeftTensor tensors[] = {
      {"m", "w", "", WEFT_OPTIMIZER, WEFT_F32, 1, 1, dims, 0, 4, "", nullptr, 0,
       1},
      {"s", "", "", WEFT_SCALER, WEFT_F32, 1, 1, dims, 4, 4, "", nullptr, 0, 1},
      {"w", "", "", WEFT_PARAM, WEFT_F32, 1, 1, dims, 8, 4, "", nullptr, 0, 1}};
  Sum forward("micro", 4, 64);
  WeftExecutable started = kExecutable;
  started.programs = &forward.program;
  started.numTensors = 3;
  started.tensors = tensors;
  start(started, (std::string(R"({"micro": )") + kSumEntry + "}").c_str());
  for (int i = 0; i < 3; ++i)
    input()[i] = kInf;
  EXPECT_EQ(step(&forward.program, /*good=*/false),
            "state 's' came in with inf in element 0");
  input()[1] = 1.0f;
  EXPECT_EQ(step(&forward.program, /*good=*/false),
            "weight 'w' came in with inf in element 0");
  input()[2] = 1.0f;
  EXPECT_EQ(step(&forward.program, /*good=*/false), "");
}

// The truth value of a test of gradients leads to what was tested.
TEST_F(HuntTest, followsFoundInf) {
  static const int64_t offsets[] = {0, 64, 64, 128};
  const WeftLibraryFn test = [](WeftContext *, const WeftCommand *,
                                void *const *buffers) {
    *static_cast<bool *>(buffers[1]) =
        !std::isfinite(*static_cast<const float *>(buffers[0]));
  };
  const WeftCommand commands[] = {
      {"copy", "", nullptr, nullptr, addTwo, offsets, nullptr, 0, WEFT_KERNEL,
       2, 0, 0, 0},
      {"test", "", nullptr, nullptr, test, offsets + 2, nullptr, 0, WEFT_KERNEL,
       2, 0, 0, 0}};
  const WeftPort found = {"found_inf", WEFT_I1, 0, nullptr, 128, 1};
  const WeftProgram program = {"apply", "apply", commands, nullptr,
                               &found,  2,       0,        1};
  WeftExecutable started = kExecutable;
  started.programs = &program;
  start(started, R"({"apply": [
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [2], [1]]], "writes": [[1, "f32", "", [], [], []]]},
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [], []]], "writes": [[1, "i1", "", [], [], []]]}]})");
  input()[0] = kInf;
  EXPECT_EQ(step(&program, /*good=*/false),
            "copy, program apply, made the first inf: element 0 of F32[]");
  input()[0] = 1.0f;
  EXPECT_EQ(step(&program, /*good=*/false), "");
}

// Elements of one buffer have origins of their own: a select discards the row
// that came in so, and keeps the one that overflows.
TEST_F(HuntTest, followsElements) {
  static const int64_t offsets[] = {0, 64, 64, 128};
  const WeftLibraryFn twice = [](WeftContext *, const WeftCommand *,
                                 void *const *buffers) {
    for (int i = 0; i < 2; ++i)
      static_cast<float *>(buffers[1])[i] =
          2 * static_cast<const float *>(buffers[0])[i];
  };
  const WeftLibraryFn select = [](WeftContext *, const WeftCommand *,
                                  void *const *buffers) {
    static_cast<float *>(buffers[1])[0] = 0.0f;
    static_cast<float *>(buffers[1])[1] =
        static_cast<const float *>(buffers[0])[1];
  };
  const WeftCommand commands[] = {
      {"twice", "", nullptr, nullptr, twice, offsets, nullptr, 0, WEFT_KERNEL,
       2, 0, 0, 0},
      {"select", "", nullptr, nullptr, select, offsets + 2, nullptr, 0,
       WEFT_KERNEL, 2, 0, 0, 0}};
  const WeftPort x = {"x", WEFT_F32, 0, nullptr, 0, 8},
                 loss = {"loss", WEFT_F32, 0, nullptr, 128, 8};
  const WeftProgram program = {"micro", "micro", commands, &x, &loss, 2, 1, 1};
  WeftExecutable started = kExecutable;
  started.programs = &program;
  start(started, R"({"micro": [
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [2], [1]]],
       "writes": [[1, "f32", "", [2], [1], [0]]]},
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [2], [1]]],
       "writes": [[1, "f32", "", [2], [1], [0]]]}]})");
  input()[0] = NAN;
  input()[1] = std::numeric_limits<float>::max();
  EXPECT_EQ(step(&program, /*good=*/false),
            "twice, program micro, made the first inf: element 1 of F32[2]");
  // Nor is the element named that the select discards.
  input()[1] = kInf;
  EXPECT_EQ(step(&program, /*good=*/false),
            "input 'x' came in with inf in element 1");
}

// A slice of a sum over ranks may be finite where others get infinities.
TEST_F(HuntTest, namesWhatOthersGot) {
  static const int64_t offsets[] = {0, 64, 64, 128};
  const WeftLibraryFn slice = [](WeftContext *, const WeftCommand *,
                                 void *const *buffers) {
    *static_cast<float *>(buffers[1]) = 1.0f;
  };
  const WeftCommand commands[] = {{"add", "", nullptr, nullptr, addTwo, offsets,
                                   nullptr, 0, WEFT_KERNEL, 2, 0, 0, 0},
                                  {"reduce_scatter", "", nullptr, nullptr,
                                   slice, offsets + 2, nullptr, 0,
                                   WEFT_EXTENSION, 2, 0, 0, 0}};
  const WeftPort loss = {"loss", WEFT_F32, 0, nullptr, 128, 4};
  const WeftProgram program = {"micro", "micro", commands, nullptr,
                               &loss,   2,       0,        1};
  WeftExecutable started = kExecutable;
  started.programs = &program;
  start(started, R"({"micro": [
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [2], [1]]], "writes": [[1, "f32", "", [], [], []]]},
      {"at": "", "ops": "", "infinite": false,
       "reads": [[0, "f32", [], []]], "writes": [[1, "f32", "", [], [], []]]}]})");
  input()[0] = std::numeric_limits<float>::max();
  input()[1] = std::numeric_limits<float>::max();
  EXPECT_TRUE(hunt->begin());
  ASSERT_TRUE(runProgram(*context, program));
  const NanCause cause = hunt->findCause();
  EXPECT_EQ(cause.source, NanCause::Sent);
  EXPECT_EQ(cause.text,
            "add, program micro, made the first inf: element 0 of F32[]");
  hunt = nullptr;
  context = nullptr;
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
  const char *const writes =
      "expects [buffer, type, name, dims, strides, sources]";
  expectRowError(R"("reads": [], "writes": [[2, "f32", "", [], [], []]])",
                 writes);
  expectRowError(R"("reads": [], "writes": [[1, "i8", "", [], [], []]])",
                 writes);
  expectRowError(R"("reads": [], "writes": [[1, "f32", 1, [], [], []]])",
                 writes);
  expectRowError(R"("reads": [], "writes": [[1]])", "expects six fields");
  expectRowError(R"("reads": [], "writes": [[1, "f32", "", [], [], [2]]])",
                 writes);
  const char *const reads = "expects [buffer, type, dims, strides]";
  expectRowError(R"("reads": [[2, "f32", [], []]])", reads);
  expectRowError(R"("reads": [[1, "i8", [], []]])", reads);
  expectRowError(R"("reads": [[1, "f32", [-1], [1]]])", reads);
  expectRowError(R"("reads": [[1, "f32", [2], []]])", reads);
  expectRowError(R"("reads": [[1, "f32", "", [], []]])", "expects four fields");
}
