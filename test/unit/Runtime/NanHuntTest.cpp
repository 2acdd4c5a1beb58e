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
                   "writes": [[1, "f32", "y", [2], [2], false]]},
                  {"at": "", "ops": "", "infinite": false,
                   "writes": [[0, "f64", "", [], [], false]]}]})";

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
                     "writes": [[1, "f32", "y", [2], [2], false]]},
                    {"at": "", "ops": "", "infinite": false,
                     "writes": [[0, "f64", "", [], [], false]]},
                    {"at": "", "ops": "", "infinite": false,
                     "writes": [[1, "f32", "z", [2], [2], false]]}]})";
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

//===----------------------------------------------------------------------===//
// What was written over
//===----------------------------------------------------------------------===//

namespace {

/// Elements 0 and 2 of the last buffer.
template <bool isFinite>
void writeTwo(WeftContext *, const WeftCommand *command, void *const *buffers) {
  float *out = static_cast<float *>(buffers[command->numBuffers - 1]);
  out[0] = out[2] = isFinite ? 0.0f : kInf;
}

/// Reads the buffers at all offsets but the last, and writes that one as
/// `written`, the end of an entry of the table, says.
struct Made {
  const char *name;
  bool isFinite;
  std::vector<int64_t> offsets;
  const char *written;
};

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
      table += std::string(made.size() > 1 ? ", " : "") +
               R"({"at": "", "ops": "", "infinite": false, "writes": [[)" +
               std::to_string(count - 1) + ", " + each.written + "]]}";
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

const char *const kDense = R"("f32", "y", [4], [1], false)";
const Made kMask = {"mask", false, {0, 64}, kDense};
/// Reads finite values, and comes last.
const Made kLast = {"last", false, {0, 192}, kDense};

} // namespace

TEST(Taint, inputsAreWrittenByTheHost) {
  const WeftPort port = {"lr", WEFT_F64, 0, nullptr, 64, 8};
  MadeRun run;
  run.add("micro", {kMask});
  run.add("apply", {{"update", false, {64, 128}, kDense}, kLast}, &port);
  EXPECT_EQ(run.blamed(), "update");
}

TEST(Taint, integersAreFinite) {
  MadeRun run;
  run.add("micro", {kMask,
                    {"ids", true, {0, 64}, R"("i64", "", [2], [1], false)"},
                    {"gather", false, {64, 128}, kDense},
                    kLast});
  EXPECT_EQ(run.blamed(), "gather");
}

// An update passes on what was in its buffer before.
TEST(Taint, whatIsUpdatedIsRead) {
  for (const char *updated : {"true", "false"}) {
    const std::string row = R"("f32", "y", [4], [1], )" + std::string(updated);
    MadeRun run;
    run.add("micro", {kMask, {"update", false, {0, 64}, row.c_str()}, kLast});
    EXPECT_EQ(run.blamed(), updated[0] == 't' ? "last" : "update");
  }
}

TEST(Taint, whatLiesBetweenColumnsStaysFinite) {
  MadeRun run;
  run.add("micro", {{"mask", false, {0, 64}, R"("f32", "y", [2], [2], false)"},
                    {"reader", false, {68, 128}, kDense},
                    kLast});
  EXPECT_EQ(run.blamed(), "reader");
}

TEST(Taint, whatLiesBetweenColumnsStaysTainted) {
  MadeRun run;
  run.add("micro", {kMask,
                    {"part", true, {0, 68}, R"("f32", "y", [2], [2], false)"},
                    {"reader", false, {72, 128}, kDense},
                    kLast});
  EXPECT_EQ(run.blamed(), "last");
}

TEST(Hunt, refusesATableOfOtherCommands) {
  std::string error;
  auto context = WeftContext::create(kExecutable, {}, error);
  for (
      auto [table, message] :
      {std::pair<const char *, const char *>{
           R"({"micro": []})", "the metadata's debug_nan does not describe the "
                               "commands of program micro"},
       {R"({"micro": [{"at": "", "ops": "", "infinite": false,
                       "writes": [[2, "f32", "", [], [], false]]},
                       {"at": "", "ops": "", "infinite": false,
                        "writes": []}]})",
        "expects [buffer, type, name, dims, strides, read]"},
       {R"({"micro": [{"at": "", "ops": "", "infinite": false,
                       "writes": [[1, "i8", "", [], [], false]]},
                       {"at": "", "ops": "", "infinite": false,
                        "writes": []}]})",
        "expects [buffer, type, name, dims, strides, read]"},
       {R"({"micro": [{"at": "", "ops": "", "infinite": false, "writes": [[1]]},
                       {"at": "", "ops": "", "infinite": false,
                        "writes": []}]})",
        "expects six fields"}}) {
    auto hunt = NanHunt::create(*context, *parseJson(table, "table"));
    ASSERT_FALSE(hunt.ok());
    EXPECT_EQ(hunt.error().code(), ExitCode::Internal);
    EXPECT_NE(hunt.error().str().find(message), std::string::npos)
        << hunt.error().str();
  }
}
