//===- PortsTest.cpp - Inputs that the runtime writes ---------------------===//
//
// A program whose commands write down their inputs, run inside this process:
// windows, numbering of rows, micro-steps, hyper-parameters.
//
//===----------------------------------------------------------------------===//

#include "ToyTool.h"

#include "weft/Base/Half.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Run/Entry.h"

using namespace weft;

namespace {

constexpr int64_t B = 2, T = 3;

/// The inputs of one run of micro or apply.
struct Seen {
  std::string program;
  std::vector<int32_t> tokens, targets;
  double lossSeed = 0, accumulate = 0;
  int64_t seed = 0, row = 0;
  std::vector<double> hyper;
};
std::vector<Seen> seen;

void probeMicro(WeftContext *, const WeftCommand *, void *const *b) {
  Seen now;
  now.program = "micro";
  auto *tokens = static_cast<int32_t *>(b[0]);
  auto *targets = static_cast<int32_t *>(b[1]);
  now.tokens.assign(tokens, tokens + B * T);
  now.targets.assign(targets, targets + B * T);
  now.lossSeed = *static_cast<float *>(b[2]);
  now.accumulate = *static_cast<float *>(b[3]);
  now.seed = static_cast<int64_t *>(b[4])[0];
  now.row = static_cast<int64_t *>(b[4])[1];
  seen.push_back(now);
  *static_cast<float *>(b[5]) = 1.5f;
  // Inputs are only good for one run.
  std::memset(b[0], 0xff, 4 * B * T);
  std::memset(b[2], 0xff, 8);
}

void probeApply(WeftContext *, const WeftCommand *, void *const *b) {
  Seen now;
  now.program = "apply";
  auto *hyper = static_cast<double *>(b[0]);
  now.hyper.assign(hyper, hyper + 7);
  seen.push_back(now);
  std::memset(b[0], 0xff, 56);
  *static_cast<uint8_t *>(b[1]) = 0;
}

const int64_t rowDims[] = {B, T}, pair[] = {2};
const int64_t microBuffers[] = {0, 64, 128, 132, 192, 256};
const int64_t applyBuffers[] = {320, 384};
const WeftCommand commands[] = {
    {"micro", "", nullptr, nullptr, probeMicro, microBuffers, nullptr, 0,
     WEFT_KERNEL, 6, 0, 1, 0},
    {"apply", "", nullptr, nullptr, probeApply, applyBuffers, nullptr, 0,
     WEFT_KERNEL, 2, 0, 1, 0}};
const WeftPort microPorts[] = {{"tokens", WEFT_I32, 2, rowDims, 0, B * T * 4},
                               {"targets", WEFT_I32, 2, rowDims, 64, B * T * 4},
                               {"loss_seed", WEFT_F32, 0, nullptr, 128, 4},
                               {"accumulate", WEFT_F32, 0, nullptr, 132, 4},
                               {"rng", WEFT_I64, 1, pair, 192, 16}};
const WeftPort lossPort[] = {{"loss", WEFT_F32, 0, nullptr, 256, 4}};
const WeftPort applyPorts[] = {{"lr", WEFT_F64, 0, nullptr, 320, 8},
                               {"beta1", WEFT_F64, 0, nullptr, 328, 8},
                               {"beta2", WEFT_F64, 0, nullptr, 336, 8},
                               {"eps", WEFT_F64, 0, nullptr, 344, 8},
                               {"weight_decay", WEFT_F64, 0, nullptr, 352, 8},
                               {"momentum", WEFT_F64, 0, nullptr, 360, 8},
                               {"max_norm", WEFT_F64, 0, nullptr, 368, 8}};
const WeftPort badPort[] = {{"found_inf", WEFT_I1, 0, nullptr, 384, 1}};
const WeftProgram programs[] = {
    {"init", "init", nullptr, nullptr, nullptr, 0, 0, 0},
    {"micro", "micro", &commands[0], microPorts, lossPort, 1, 5, 1},
    {"apply", "apply", &commands[1], applyPorts, badPort, 1, 7, 1}};
const char metadata[] = R"({
  "format": 1, "weft": "0.1.0", "name": "probe", "family": "mlir",
  "fingerprint": "probe", "target": "cpu", "vocab": 100, "seq": 3, "batch": 2,
  "accumulation": true, "clip_norm": 2, "optimizers": ["adamw", "sgd"],
  "hyper_parameters": ["lr", "beta1", "beta2", "eps", "weight_decay", "momentum"],
  "tokenizer_files": ["tokenizer.json"]})";
const WeftExecutable probe = {
    WEFT_ABI_VERSION,    3,       0, 0, programs, nullptr, 448, metadata,
    sizeof metadata - 1, nullptr, 0};

class PortsTest : public ToyTest {
protected:
  void SetUp() override {
    ToyTest::SetUp();
    seen.clear();
    // 14 tokens 0 .. 13: 4 windows of 3.
    std::string bytes;
    for (int i = 0; i < 14; ++i)
      bytes += std::string{char(i), '\0'};
    write("data.bin", bytes);
  }
  int run(Args args) {
    args.insert(args.begin(), {"probe", "--data", path("data.bin"),
                               "--data-format", "u16", "--progress", "none"});
    std::vector<char *> argv;
    for (std::string &arg : args)
      argv.push_back(arg.data());
    return weftMain(probe, int(argv.size()), argv.data());
  }
};

TEST_F(PortsTest, microStepsReadConsecutiveRows) {
  ASSERT_EQ(
      run({"--steps", "2", "--accum", "3", "--seed", "11", "--no-shuffle"}), 0);
  ASSERT_EQ(seen.size(), 8u);
  // Rows 0 1 | 2 3 | 0 1 of four windows; targets are one further.
  EXPECT_EQ(seen[0].tokens, (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(seen[0].targets, (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(seen[1].tokens, (std::vector<int32_t>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(seen[1].targets, (std::vector<int32_t>{7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(seen[2].tokens, seen[0].tokens);
  EXPECT_EQ(seen[3].program, "apply");
  EXPECT_EQ(seen[4].tokens, seen[1].tokens);
  const double flags[] = {0, 1, 1};
  const int64_t rows[] = {0, 2, 4, -1, 6, 8, 10};
  for (size_t i : {0, 1, 2, 4, 5, 6}) {
    EXPECT_EQ(seen[i].lossSeed, double(1.0f / 3.0f));
    EXPECT_EQ(seen[i].accumulate, flags[i % 4]);
    EXPECT_EQ(seen[i].seed, 11);
    EXPECT_EQ(seen[i].row, rows[i]);
  }
}

TEST_F(PortsTest, updateGetsTheHyperParameters) {
  ASSERT_EQ(run({"--steps", "3", "--lr", "0.5", "--warmup", "2", "--beta1",
                 "0.8", "--beta2", "0.7", "--eps", "1e-5", "--weight-decay",
                 "0.3", "--momentum", "0.2", "--clip", "2"}),
            0);
  EXPECT_EQ(seen[1].hyper,
            (std::vector<double>{0.25, 0.8, 0.7, 1e-5, 0.3, 0.2, 2}));
  EXPECT_EQ(seen[3].hyper,
            (std::vector<double>{0.5, 0.8, 0.7, 1e-5, 0.3, 0.2, 2}));
}

TEST_F(PortsTest, textForAModelWithATokenizer) {
  Args args = {"probe", "--data", path("text.txt"), "--steps", "1"};
  std::vector<char *> argv;
  for (std::string &arg : args)
    argv.push_back(arg.data());
  testing::internal::CaptureStderr();
  EXPECT_EQ(weftMain(probe, int(argv.size()), argv.data()), 3);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("expects tokens of the model's tokenizer "
                      "(tokenizer.json), but got text\nhint: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("--tokenizer=bytes"), std::string::npos);
}

TEST_F(PortsTest, brokenExecutablesAreInternalErrors) {
  char name[] = "x", steps[] = "--steps=1", flag[] = "--data=/dev/zero";
  char *argv[] = {name, steps, flag};
  WeftExecutable broken = probe;
  auto errorOf = [&] {
    testing::internal::CaptureStderr();
    EXPECT_EQ(weftMain(broken, 3, argv), 70);
    return testing::internal::GetCapturedStderr();
  };
  broken.abiVersion = 99;
  EXPECT_EQ(errorOf(), "weft: error: expects ABI version " +
                           std::to_string(WEFT_ABI_VERSION) + ", but got 99\n");
  broken = probe;
  broken.metadata = "{}";
  broken.metadataBytes = 2;
  EXPECT_EQ(errorOf().find("weft: error: <metadata>"), 0u);
}

TEST_F(PortsTest, inputsMustHoldABatch) {
  std::vector<WeftPort> ports(microPorts, microPorts + 5);
  std::vector<WeftProgram> changed(programs, programs + 3);
  changed[1].inputs = ports.data();
  WeftExecutable other = probe;
  other.programs = changed.data();
  char name[] = "x", steps[] = "--steps=1", format[] = "--data-format=u16";
  std::string data = "--data=" + path("data.bin");
  char *argv[] = {name, steps, data.data(), format};
  auto errorOf = [&] {
    testing::internal::CaptureStderr();
    EXPECT_EQ(weftMain(other, 4, argv), 70);
    return testing::internal::GetCapturedStderr();
  };
  ports[0].name = "mask";
  EXPECT_EQ(errorOf(), "weft: error: program 'micro' expects inputs of a batch "
                       "of rows, but got 'mask' of shape [2, 3]\n");
  ports[0] = microPorts[0];
  changed[2].numOutputs = 0;
  EXPECT_EQ(errorOf(), "weft: error: the executable has no output 'found_inf' "
                       "of program 'apply'\n");
  changed[1].numOutputs = 0;
  EXPECT_EQ(errorOf(), "weft: error: the executable has no output 'loss' of "
                       "program 'micro'\n");
  other.numPrograms = 2;
  EXPECT_EQ(errorOf(), "weft: error: the executable has no program 'apply'\n");
  other.numPrograms = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(weftMain(other, 4, argv), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft: error: expects a program that trains, but this one was "
            "compiled with --inference\nhint: weft compile MODEL without "
            "--inference, or weft train MODEL, compiles one; --eval-only "
            "evaluates this one\n");
}

// An unwritten input would hold old memory, and a flag would have no effect.
TEST_F(PortsTest, EveryInputIsOneThatARunWrites) {
  std::vector<WeftPort> micro(microPorts, microPorts + 5);
  std::vector<WeftPort> apply(applyPorts, applyPorts + 7);
  std::vector<WeftProgram> changed(programs, programs + 3);
  changed[1].inputs = micro.data();
  changed[2].inputs = apply.data();
  WeftExecutable other = probe;
  other.programs = changed.data();
  char name[] = "x", help[] = "--help";
  char *argv[] = {name, help};
  auto errorOf = [&] {
    testing::internal::CaptureStderr();
    EXPECT_EQ(weftMain(other, 2, argv), 70);
    return testing::internal::GetCapturedStderr();
  };
  apply[0].name = "lrr";
  EXPECT_EQ(errorOf(), "weft: error: program 'apply' expects inputs that a run "
                       "writes, 'lr', 'beta1', 'beta2', 'eps', 'weight_decay', "
                       "'momentum', 'max_norm' or 'rank', but got 'lrr'\n");
  apply[0].name = "rank";
  EXPECT_EQ(errorOf(), "weft: error: program 'apply' expects an input 'lr', "
                       "which its update reads, but got none\n");
  apply[0].name = "lr";
  changed[2].numInputs = 6;
  EXPECT_EQ(errorOf(), "weft: error: program 'apply' expects an input "
                       "'max_norm', which its update reads, but got none\n");
  changed[2].numInputs = 7;
  micro[4].rank = 0;
  EXPECT_EQ(errorOf(), "weft: error: program 'micro' expects input 'rng' of "
                       "shape [2], but got []\n");
  micro[4].rank = 1;
  changed[1].symbol = changed[1].kind = "eval";
  EXPECT_EQ(errorOf(), "weft: error: program 'eval' expects inputs that a run "
                       "writes, 'rank', but got 'loss_seed'\n");
  changed[1].symbol = changed[1].kind = "logits";
  EXPECT_EQ(errorOf(), "weft: error: program 'logits' expects input 'tokens' "
                       "of shape [1, 3], but got [2, 3]\n");
  changed[1].numInputs = 0;
  EXPECT_EQ(errorOf(), "weft: error: program 'logits' expects an input "
                       "'tokens', but got none\n");
  changed[1].symbol = changed[1].kind = "init";
  EXPECT_EQ(weftMain(probe, 2, argv), 0);
}

TEST_F(PortsTest, processorAndMemoryAreChecked) {
  char name[] = "x", steps[] = "--steps=1";
  std::string data = "--data=" + path("data.bin");
  char format[] = "--data-format=u16";
  char *argv[] = {name, steps, data.data(), format};
  WeftExecutable other = probe;
  std::string text = metadata;
  text.replace(text.find("\"target\": \"cpu\""), 15,
               "\"target\": \"cpu\", \"cpu_features\": [\"sse2\", \"abacus\"]");
  other.metadata = text.data();
  other.metadataBytes = int64_t(text.size());
  testing::internal::CaptureStderr();
  EXPECT_EQ(weftMain(other, 4, argv), 9);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find(
                "weft: error: the program was compiled for cpu; this processor "
                "lacks abacus\nhint: "),
            0u);
  other = probe;
  other.arenaBytes = int64_t(1) << 50;
  testing::internal::CaptureStderr();
  EXPECT_EQ(weftMain(other, 4, argv), 4);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find(
                "weft: error: the program needs 1024.00 TiB, but the machine "
                "has "),
            0u);
  other.arenaBytes = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(weftMain(other, 4, argv), 70);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "weft: error: expects buffer 1 of 'micro' inside the arena, but got "
      "offset 64\n");
}

TEST(Ports, numbersOfEveryType) {
  WeftExecutable executable = probe;
  std::string error;
  auto context = WeftContext::create(executable, {}, error);
  ASSERT_TRUE(context) << error;
  for (int32_t dtype :
       {WEFT_F32, WEFT_F64, WEFT_F16, WEFT_BF16, WEFT_I32, WEFT_I64}) {
    WeftPort port = {"p", dtype, 0, nullptr, 64, 8};
    writeNumber(*context, port, 24.0);
    EXPECT_EQ(readNumber(*context, port), 24.0) << dtype;
    writeInteger(*context, port, -3);
    EXPECT_EQ(readNumber(*context, port), -3.0) << dtype;
  }
  WeftPort bit = {"p", WEFT_I1, 0, nullptr, 64, 1};
  writeInteger(*context, bit, 7);
  EXPECT_EQ(readNumber(*context, bit), 1.0);
}

// A program that asks for its rank is told before every run.
TEST(Ports, ProgramsLearnTheirRank) {
  auto nothing = [](WeftContext *, const WeftCommand *, void *const *) {};
  WeftCommand command = {};
  command.name = "nothing";
  command.library = nothing;
  const WeftPort input = {"rank", WEFT_I64, 0, nullptr, 8, 8};
  const WeftProgram program = {"eval",  "eval", &command, &input,
                               nullptr, 1,      1,        0};
  WeftExecutable executable = {};
  executable.abiVersion = WEFT_ABI_VERSION;
  executable.numPrograms = 1;
  executable.programs = &program;
  executable.arenaBytes = 64;
  for (int rank : {0, 2}) {
    ContextOptions options;
    options.rank = rank;
    options.ranks = 3;
    options.poisoned = true;
    std::string error;
    auto context = WeftContext::create(executable, options, error);
    ASSERT_TRUE(context) << error;
    EXPECT_EQ(context->rank(), rank);
    EXPECT_EQ(context->ranks(), 3);
    ASSERT_TRUE(runChecked(*context, program).ok());
    EXPECT_EQ(*static_cast<int64_t *>(context->at(8)), rank);
  }
  EXPECT_TRUE(dataInputs(program).empty());
}

} // namespace
