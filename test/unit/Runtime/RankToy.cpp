//===- RankToy.cpp - A program that several ranks of a test run -----------===//

#include "RankToy.h"
#include "ToyKernels.h"

using namespace weft;

static constexpr int64_t kWeight = 0, kGrad = 64, kMoment = 128, kRow = 192,
                         kLoss = 256, kBad = 320, kRate = 384, kAdd = 448,
                         kPower = 512, kScale = 576, kUp = 640, kEnd = 704;
static const int64_t kThree[] = {3}, kOne[] = {1};

/// The loss scale of a state that begins with 0.
static float scaleOf(const void *power) {
  return std::exp2(2.0f + *static_cast<const float *>(power));
}

/// Weight, gradient, row, loss, whether to add, power.
template <bool isScaled>
static void micro(WeftContext *, const WeftCommand *, void *const *b) {
  const float x = *static_cast<float *>(b[2]);
  auto *weight = static_cast<float *>(b[0]), *grad = static_cast<float *>(b[1]);
  const float old = *static_cast<float *>(b[4]);
  for (int i = 0; i < 3; ++i)
    grad[i] = (old != 0.0f ? grad[i] : 0.0f) +
              x * (weight[i] + float(i + 1)) * (isScaled ? scaleOf(b[5]) : 1);
  *static_cast<float *>(b[3]) = x * (weight[0] - weight[2]);
}

/// Weight, gradient, moment, rate, whether the gradient is bad, power, scale,
/// whether that cannot shrink.
template <bool isScaled>
static void apply(WeftContext *context, const WeftCommand *, void *const *b) {
  auto *weight = static_cast<float *>(b[0]), *grad = static_cast<float *>(b[1]);
  auto *moment = static_cast<float *>(b[2]),
       *power = static_cast<float *>(b[5]);
  const bool isBad = !std::isfinite(grad[0]);
  *static_cast<uint8_t *>(b[4]) = isBad;
  const float scale = isScaled ? scaleOf(power) : 1.0f;
  *static_cast<float *>(b[6]) = scale;
  *static_cast<uint8_t *>(b[7]) = isBad && scale <= 0.125f;
  if (isScaled)
    *power += isBad ? -1.0f : 0.25f;
  if (isBad)
    return;
  for (int i = 0; i < 3; ++i)
    weight[i] -= float(*static_cast<double *>(b[3])) * grad[i] / scale;
  for (int i = 0; i < 3 / context->ranks(); ++i)
    moment[i] += grad[i];
}

namespace {
/// Points into itself.
struct ToyTables {
  WeftTensor tensors[4];
  WeftCommand commands[2];
  WeftProgram programs[2];
  WeftExecutable executable;
  ToyTables(const ToyTables &) = delete;
  ToyTables(int ranks, bool isScaled);
};
} // namespace

ToyTables::ToyTables(int ranks, bool isScaled) {
  static const int64_t microBuffers[] = {kWeight, kGrad, kRow,
                                         kLoss,   kAdd,  kPower},
                       applyBuffers[] = {kWeight, kGrad,  kMoment, kRate,
                                         kBad,    kPower, kScale,  kUp};
  static const WeftPort in[] = {{"x", WEFT_F32, 1, kOne, kRow, 4},
                                {"accumulate", WEFT_F32, 0, nullptr, kAdd, 4}};
  static const WeftPort loss[] = {{"loss", WEFT_F32, 0, nullptr, kLoss, 4}};
  static const WeftPort rate[] = {{"lr", WEFT_F64, 0, nullptr, kRate, 8}};
  static const WeftPort out[] = {
      {"found_inf", WEFT_I1, 0, nullptr, kBad, 1},
      {"loss_scale", WEFT_F32, 0, nullptr, kScale, 4},
      {"scale_exhausted", WEFT_I1, 0, nullptr, kUp, 1}};
  static const WeftSegment segment[] = {{"w", "", 1, kThree, 0, 3}};
  tensors[0] = {"w",    "",      "", WEFT_PARAM, WEFT_F32, 1, 1,
                kThree, kWeight, 12, "",         nullptr,  0, 1};
  tensors[1] = {"w.grad", "w", "", WEFT_GRADIENT, WEFT_F32, 1, 0, kThree,
                kGrad,    12,  "", nullptr,       0,        1};
  tensors[2] = {"moments", "",         "",        WEFT_OPTIMIZER,
                WEFT_F32,  1,          1,         ranks == 1 ? kThree : kOne,
                kMoment,   12 / ranks, "exp_avg", segment,
                1,         ranks};
  tensors[3] = {"power", "", "", WEFT_OPTIMIZER, WEFT_F32, 0, 0, nullptr,
                kPower,  4,  "", nullptr,        0,        1};
  commands[0] = toyCommand("micro", isScaled ? micro<true> : micro<false>,
                           microBuffers, 6);
  commands[1] = toyCommand("apply", isScaled ? apply<true> : apply<false>,
                           applyBuffers, 8);
  programs[0] = {"micro", "micro", &commands[0], in, loss, 1, 2, 1};
  programs[1] = {"apply", "apply", &commands[1],    rate, out,
                 1,       1,       isScaled ? 3 : 1};
  executable = {WEFT_ABI_VERSION, 2, 4, 0, programs, tensors, kEnd, "", 0,
                nullptr,          0};
}

const WeftExecutable &weft::rankToy(int ranks, bool isScaled) {
  static const ToyTables three(kToyRanks, false), one(1, false),
      scaled(1, true);
  return (ranks == kToyRanks ? three : isScaled ? scaled : one).executable;
}

Status ToyRows::fill(const WeftPort &, int64_t row, char *out) const {
  const float number = 1.0f + float(row / ranks % 7) / 8.0f;
  std::memcpy(out, &number, sizeof number);
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
  auto context = WeftContext::create(rankToy(ranks), wanted, error);
  EXPECT_TRUE(context) << error;
  return context;
}

RankEnd RankTest::train(Consensus &consensus, const ToyRows::Fail &fail,
                        const StopRequest &signals, bool isSaved) {
  const RunInputs inputs = {rankToy(), metadata, options, faults};
  auto context = contextOf(consensus.rank());
  CheckpointWriter writer(*context, metadata, RunRecord(), saves(), faults,
                          consensus);
  DataSet data;
  data.train = std::make_unique<ToyRows>(kToyRanks, fail);
  Journal journal;
  Trainer trainer({*context, data, consensus, journal, signals,
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
  all.run([&](Consensus &consensus) {
    const int rank = consensus.rank();
    ends[size_t(rank)] = train(
        consensus, [&](int64_t row) { return fail(rank, row / kToyRanks + 1); },
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
