//===- TaintTest.cpp - Reads of bytes that were overwritten ---------------===//
//
// A command that reads a value known to be infinite propagates it.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Reports/NanHunt.h"

#include <deque>
#include <gtest/gtest.h>
#include <limits>

using namespace weft;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const WeftExecutable kEmpty = {
    WEFT_ABI_VERSION, 0, 0, 0, nullptr, nullptr, 256, "{}", 2, nullptr, 0};

/// All that the commands of these tests write.
const WeftPort kLoss = {"loss", WEFT_F32, 0, nullptr, 64, 192};

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

std::string rowText(size_t buffer, const std::string &end) {
  return "[" + std::to_string(buffer) + ", " + end + "]";
}

/// Its entry of the table.
std::string tableEntry(const Made &made) {
  std::string reads;
  const size_t last = made.offsets.size() - 1;
  for (size_t i = 0; i < last + made.updates; ++i)
    reads += (i > 0 ? ", " : "") + rowText(i, made.read);
  return R"({"at": "", "ops": "", "infinite": false, "reads": [)" + reads +
         R"(], "writes": [)" +
         rowText(last, made.written + std::string(", []")) + "]}";
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
      made.push_back({each.name, "", nullptr, nullptr, routine,
                      offsets.back().data(), nullptr, 0, WEFT_KERNEL, count, 0,
                      0, 0});
      table += (made.size() > 1 ? ", " : "") + tableEntry(each);
    }
    table += "]";
    programs.push_back({program, program, made.data(), input, &kLoss,
                        int32_t(made.size()), input != nullptr, 1});
  }

  /// The name of the command that a bad step blames, after a good one of the
  /// first command alone, which makes its infinity on purpose.
  std::string blamed() {
    WeftExecutable executable = kEmpty;
    executable.numPrograms = int32_t(programs.size());
    executable.programs = programs.data();
    std::string error;
    auto context = WeftContext::create(executable, {}, error);
    EXPECT_TRUE(context) << error;
    auto hunt = NanHunt::create(*context, *parseJson(table + "}", "table"));
    EXPECT_TRUE(hunt.ok()) << hunt.error().str();
    WeftProgram mask = programs[0];
    mask.numCommands = 1;
    EXPECT_TRUE((*hunt)->begin());
    EXPECT_TRUE(runProgram(*context, mask));
    (*hunt)->learn();
    EXPECT_TRUE((*hunt)->begin());
    for (const WeftProgram &program : programs)
      EXPECT_TRUE(runProgram(*context, program));
    std::string text = (*hunt)->findCause().text;
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

// The mask has infinities in the bytes [64, 68) and [72, 76).
TEST(Taint, allElementsAreRead) {
  for (auto [offset, blamed] : {std::pair<int64_t, const char *>{48, "reader"},
                                {52, "last"},
                                {72, "last"},
                                {76, "reader"}}) {
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
