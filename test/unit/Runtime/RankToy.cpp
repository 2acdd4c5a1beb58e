//===- RankToy.cpp - A program that several ranks of a test run -----------===//

#include "RankToy.h"
#include "ToyKernels.h"

using namespace weft;

static constexpr int64_t kWeight = 0, kGrad = 64, kMoment = 128, kRow = 192,
                         kLoss = 256, kBad = 320, kRate = 384, kEnd = 448;
static const int64_t kThree[] = {3}, kOne[] = {1};

static void micro(WeftContext *, const WeftCommand *, void *const *b) {
  const float x = *static_cast<float *>(b[2]);
  for (int i = 0; i < 3; ++i)
    static_cast<float *>(b[1])[i] = x * float(i + 1);
  *static_cast<float *>(b[3]) = x * static_cast<float *>(b[0])[0];
}

/// Weight, gradient, moment, rate, whether the gradient is bad.
static void apply(WeftContext *, const WeftCommand *, void *const *b) {
  auto *weight = static_cast<float *>(b[0]), *grad = static_cast<float *>(b[1]);
  const bool isBad = !std::isfinite(grad[0]);
  *static_cast<uint8_t *>(b[4]) = isBad;
  if (isBad)
    return;
  for (int i = 0; i < 3; ++i)
    weight[i] -= float(*static_cast<double *>(b[3])) * grad[i];
  *static_cast<float *>(b[2]) += 1.0f;
}

const WeftExecutable &weft::rankToy() {
  static const int64_t microBuffers[] = {kWeight, kGrad, kRow, kLoss},
                       applyBuffers[] = {kWeight, kGrad, kMoment, kRate, kBad};
  static const WeftCommand commands[] = {
      toyCommand("micro", micro, microBuffers, 4),
      toyCommand("apply", apply, applyBuffers, 5)};
  static const WeftPort row[] = {{"x", WEFT_F32, 1, kOne, kRow, 4}};
  static const WeftPort loss[] = {{"loss", WEFT_F32, 0, nullptr, kLoss, 4}};
  static const WeftPort rate[] = {{"lr", WEFT_F64, 0, nullptr, kRate, 8}};
  static const WeftPort bad[] = {{"found_inf", WEFT_I1, 0, nullptr, kBad, 1}};
  static const WeftProgram programs[] = {
      {"micro", "micro", &commands[0], row, loss, 1, 1, 1},
      {"apply", "apply", &commands[1], rate, bad, 1, 1, 1}};
  static const WeftSegment segment[] = {{"w", "", 1, kThree, 0, 3}};
  static const WeftTensor tensors[] = {
      {"w", "", "", WEFT_PARAM, WEFT_F32, 1, 1, kThree, kWeight, 12, "",
       nullptr, 0, 1},
      {"w.grad", "w", "", WEFT_GRADIENT, WEFT_F32, 1, 0, kThree, kGrad, 12, "",
       nullptr, 0, 1},
      {"moments", "", "", WEFT_OPTIMIZER, WEFT_F32, 1, 1, kOne, kMoment, 4,
       "exp_avg", segment, 1, kToyRanks}};
  static const WeftExecutable executable = {
      WEFT_ABI_VERSION, 2, 3, 0, programs, tensors, kEnd, "", 0, nullptr, 0};
  return executable;
}

Status ToyRows::fill(const WeftPort &, int64_t row, char *out) const {
  const float one = 1.0f;
  std::memcpy(out, &one, sizeof one);
  return fail(row);
}

RankTest::RankTest() {
  metadata.name = "ranks";
  metadata.fingerprint = "ranks";
  metadata.batch = 1;
  options.steps = 10;
}

std::unique_ptr<WeftContext> RankTest::contextOf(int rank, int ranks) {
  ContextOptions wanted;
  wanted.rank = rank;
  wanted.ranks = ranks;
  wanted.threads = 1;
  std::string error;
  auto context = WeftContext::create(rankToy(), wanted, error);
  EXPECT_TRUE(context) << error;
  return context;
}

RankEnd RankTest::train(Agreement &agreement, const ToyRows::Fail &fail,
                        const StopRequest &signals, bool isSaved) {
  const RunInputs inputs = {rankToy(), metadata, options, faults};
  auto context = contextOf(agreement.rank());
  CheckpointWriter writer(*context, metadata, RunRecord(), saves(), faults,
                          agreement);
  DataSet data;
  data.train = std::make_unique<ToyRows>(fail);
  Journal journal;
  Trainer trainer({*context, data, agreement, journal, signals,
                   isSaved ? &writer : nullptr},
                  inputs, TrainState());
  auto code = trainer.run();
  return {code ? int(*code) : code.error().exitStatus(),
          code ? "" : code.error().where(), trainer.state().step};
}

std::vector<RankEnd>
RankTest::trainAll(const std::function<Status(int rank, int64_t step)> &fail,
                   ToyStop (&signals)[kToyRanks], bool isSaved) {
  ThreadRanks all(kToyRanks);
  std::vector<RankEnd> ends(kToyRanks);
  all.run([&](Agreement &agreement) {
    const int rank = agreement.rank();
    ends[size_t(rank)] = train(
        agreement, [&](int64_t row) { return fail(rank, row / kToyRanks + 1); },
        signals[rank], isSaved);
  });
  return ends;
}

std::string RankTest::stepsOf(const std::string &folder) const {
  std::string text;
  if (!exists(folder))
    return text;
  for (const std::string &name : list(folder)) {
    auto step = parseStepDirectoryName(name);
    const std::string at = path(folder) + "/" + name;
    auto manifest = step ? Manifest::read(at) : Expected<Manifest>(Manifest());
    if (step && manifest && manifest->verifyFiles(at))
      text += std::to_string(*step) + " ";
    else
      text += name + " ";
  }
  return text;
}
