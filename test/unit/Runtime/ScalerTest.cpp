//===- ScalerTest.cpp - The loss scale of programs and checkpoints --------===//

#include "ToyTool.h"

#include "weft/Formats/Digest.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <cstring>

using namespace weft;

namespace {

constexpr int64_t kWeight = 0, kScale = 64, kState = 128, kEnd = 192;
const int64_t stateDims[] = {3}, scaleBuffers[] = {kScale};

/// The tables of a program with one weight and perhaps a loss scale.
struct ScaledProgram {
  WeftFillRecord first;
  std::string rule;
  WeftCommand init;
  WeftProgram programs[2];
  WeftTensor tensors[3];
  WeftExecutable executable;
  Metadata metadata;
  ResumeOptions options;

  explicit ScaledProgram(ScalePolicy policy, double scale = 16.0,
                         int64_t hysteresis = 1, double minimum = 0.0)
      : first{WEFT_F32, 1, scale} {
    auto nothing = [](WeftContext *, const WeftCommand *, void *const *) {};
    init = {"start", "",           nullptr,   nullptr, nothing, scaleBuffers,
            &first,  sizeof first, WEFT_FILL, 1,       0,       0,
            0};
    bool scales = policy != ScalePolicy::None;
    bool dynamic = policy > ScalePolicy::Fixed;
    programs[0] = {"init", "init", &init, nullptr, nullptr, scales, 0, 0};
    programs[1] = {"apply", "apply", nullptr, nullptr, nullptr, 0, 0, 0};
    if (dynamic)
      rule = std::string(R"({"scaler": {"policy": ")") + policyName(policy) +
             R"(", "interval": 3, "hysteresis": )" +
             std::to_string(hysteresis) +
             R"(, "consecutive": false, "growth": 2, "backoff": 0.5,)" +
             R"( "minimum": )" + std::to_string(minimum) + "}}";
    tensors[0] = {"w",     "",      "", WEFT_PARAM, WEFT_F32, 0, 1,
                  nullptr, kWeight, 4,  "",         nullptr,  0, 1};
    tensors[1] = {"loss_scale", "",     "", WEFT_SCALER, WEFT_F32, 0, 0,
                  nullptr,      kScale, 4,  "",          nullptr,  0, 1};
    tensors[2] = {"loss_scale.state", "",     "", WEFT_SCALER, WEFT_I64, 1, 0,
                  stateDims,          kState, 24, "",          nullptr,  0, 1};
    executable = {WEFT_ABI_VERSION,
                  2,
                  1 + scales + dynamic,
                  0,
                  programs,
                  tensors,
                  kEnd,
                  rule.data(),
                  int64_t(rule.size()),
                  nullptr,
                  0};
    metadata.fingerprint = "one";
    metadata.optimizers = {"sgd"};
    options.resume = ResumeKind::Path;
  }

  ScaledProgram(const ScaledProgram &) = delete; // points into itself

  std::unique_ptr<WeftContext> start() const {
    std::string error;
    auto context = WeftContext::create(executable, {}, error);
    EXPECT_EQ(error, "");
    return context;
  }
};

LossScaler scalerOf(ScaledProgram &program, const std::string &metadata) {
  program.executable.metadata = metadata.data();
  program.executable.metadataBytes = int64_t(metadata.size());
  return LossScaler::of(program.executable);
}

class ScalerTest : public ToyTest {
protected:
  /// The step directory of a saved program.
  std::string save(const ScaledProgram &program, float scale,
                   std::vector<int64_t> state = {0, 0, 0}) const {
    auto context = program.start();
    std::memcpy(context->at(kScale), &scale, 4);
    std::memcpy(context->at(kState), state.data(), 24);
    std::filesystem::remove_all(path("ck"));
    Faults faults;
    const SavePolicy policy = {path("ck"), 0, false};
    OneRank alone;
    CheckpointWriter writer(*context, program.metadata, RunRecord(), policy,
                            faults, alone);
    EXPECT_TRUE(prepareSaves(policy, program.executable, 1).ok());
    TrainState at;
    at.step = 1;
    auto saved = writer.save(at);
    EXPECT_TRUE(saved.ok());
    return *saved;
  }
  /// Takes the name of the policy out of a checkpoint.
  void dropPolicy(const std::string &step) const {
    const std::string name = step.substr(folder.size() + 1);
    std::string model = read(name + "/model.json");
    size_t begin = model.find("  \"loss_scale\"");
    ASSERT_NE(begin, model.npos) << model;
    model.erase(begin, model.find('\n', begin) + 1 - begin);
    write(name + "/model.json", model);
    auto manifest = Manifest::read(step);
    ASSERT_TRUE(manifest.ok());
    for (auto &file : manifest->files)
      if (file.name == "model.json")
        file = {file.name, digestBytes(model)};
    ASSERT_TRUE(manifest->write(step).ok());
  }
  static Expected<std::optional<ResumePoint>> resume(ScaledProgram &program,
                                                     const std::string &step) {
    std::vector<std::string> warnings;
    program.options.resumePath = step;
    return chooseCheckpoint(
        program.options,
        {program.metadata, program.executable, /*weightsOnly=*/false},
        warnings);
  }
  /// The error without the place, and the hint; or "ok".
  static std::string errorOf(ScalePolicy policy, const std::string &step) {
    ScaledProgram program(policy);
    auto point = resume(program, step);
    if (point)
      return "ok";
    EXPECT_EQ(point.error().code(), ExitCode::Checkpoint);
    return point.error().message() + "|" + point.error().hintText();
  }
};

const std::string kHint = " to continue it, or take its weights with `weft "
                          "ckpt export` and --init-from";

TEST_F(ScalerTest, readsTheTables) {
  ScaledProgram none(ScalePolicy::None), fixed(ScalePolicy::Fixed, 512.0),
      mmcv(ScalePolicy::Mmcv, 16.0, 1, 4.0);
  EXPECT_EQ(LossScaler::of(none.executable).policy, ScalePolicy::None);
  LossScaler scaler = LossScaler::of(fixed.executable);
  EXPECT_EQ(scaler.policy, ScalePolicy::Fixed);
  EXPECT_FALSE(scaler.isDynamic());
  EXPECT_EQ(scaler.first, 512.0f);
  scaler = LossScaler::of(mmcv.executable);
  EXPECT_EQ(scaler.policy, ScalePolicy::Mmcv);
  EXPECT_TRUE(scaler.isDynamic());
  EXPECT_EQ(scaler.first, 16.0f);
  EXPECT_EQ(scaler.interval, 3);
  EXPECT_EQ(scaler.minimum, 4.0);
}

TEST_F(ScalerTest, onAndOff) {
  std::string off = save(ScaledProgram(ScalePolicy::None), 0);
  EXPECT_EQ(errorOf(ScalePolicy::None, off), "ok");
  EXPECT_EQ(errorOf(ScalePolicy::Torch, off),
            "expects a checkpoint with a dynamic loss scale (torch), but got "
            "one with no loss scale|compile with --loss-scale=none" +
                kHint);
  std::string on = save(ScaledProgram(ScalePolicy::Fixed), 512);
  EXPECT_EQ(errorOf(ScalePolicy::None, on),
            "expects a checkpoint with no loss scale, but got one with a fixed "
            "loss scale|compile with --loss-scale=N" +
                kHint);
  EXPECT_EQ(errorOf(ScalePolicy::DeepSpeed, on),
            "expects a checkpoint with a dynamic loss scale (deepspeed), but "
            "got one with a fixed loss scale|compile with --loss-scale=N" +
                kHint);
}

TEST_F(ScalerTest, everyPolicyContinuesItself) {
  const ScalePolicy all[] = {
      ScalePolicy::None,      ScalePolicy::Fixed, ScalePolicy::Torch,
      ScalePolicy::DeepSpeed, ScalePolicy::Mmcv,  ScalePolicy::DeepSpeedFused,
      ScalePolicy::ColossalAI};
  for (ScalePolicy saved : all) {
    std::string step = save(ScaledProgram(saved), 16, {4, 0, 1});
    for (ScalePolicy resumed : all)
      EXPECT_EQ(errorOf(resumed, step) == "ok", saved == resumed)
          << policyName(saved) << " " << policyName(resumed);
  }
}

TEST_F(ScalerTest, thePolicyMustBeNamed) {
  std::string step = save(ScaledProgram(ScalePolicy::Torch), 16, {4, 0, 0});
  dropPolicy(step);
  EXPECT_EQ(errorOf(ScalePolicy::Torch, step),
            "field 'loss_scale' is missing|");
}

TEST_F(ScalerTest, statesHaveTheirTypes) {
  std::string step = save(ScaledProgram(ScalePolicy::Torch), 16);
  auto manifest = Manifest::read(step);
  ASSERT_TRUE(manifest.ok());
  manifest->tensors.pop_back();
  ASSERT_TRUE(manifest->write(step).ok());
  EXPECT_EQ(
      errorOf(ScalePolicy::Torch, step).substr(0, 66),
      "expects tensor 'loss_scale.state', but the checkpoint has none|the")
      << "the name of the policy alone is no state";
}

/// Adapts a loaded scale and state to the program: the note, then the numbers.
std::string adapted(const ScaledProgram &program, float scale,
                    std::vector<int64_t> state) {
  auto context = program.start();
  std::memcpy(context->at(kScale), &scale, 4);
  std::memcpy(context->at(kState), state.data(), 24);
  auto adapted = adaptLossScale(*context, LossScaler::of(program.executable));
  EXPECT_TRUE(adapted);
  auto note = *adapted;
  std::string text = note.value_or("") + "|";
  std::memcpy(&scale, context->at(kScale), 4);
  std::memcpy(state.data(), context->at(kState), 24);
  text += std::to_string(scale);
  for (int64_t field : state)
    text += " " + std::to_string(field);
  return text;
}

TEST_F(ScalerTest, aFixedScaleIsTheProgramsOwn) {
  ScaledProgram fixed(ScalePolicy::Fixed, 1024.0);
  EXPECT_EQ(adapted(fixed, 512, {7, 7, 7}),
            "the loss scale is 1024, as compiled; it was "
            "512|1024.000000 7 7 7");
  EXPECT_EQ(adapted(fixed, 1024, {7, 7, 7}), "|1024.000000 7 7 7");
  ScaledProgram none(ScalePolicy::None);
  EXPECT_EQ(adapted(none, 512, {7, 7, 7}), "|512.000000 7 7 7");
}

TEST_F(ScalerTest, aDynamicScaleObeysTheProgramsNumbers) {
  ScaledProgram torch(ScalePolicy::Torch, 262144.0, 1, 131072.0);
  EXPECT_EQ(adapted(torch, 65536, {4, 0, 0}),
            "the loss scale is 131072, the least of this program; it was "
            "65536|131072.000000 4 0 0");
  EXPECT_EQ(adapted(torch, 131072, {4, 0, 0}), "|131072.000000 4 0 0");
  ScaledProgram deepspeed(ScalePolicy::DeepSpeed, 16.0, 3, 1.0);
  EXPECT_EQ(adapted(deepspeed, 16, {4, -1, 5}), "|16.000000 4 -1 3");
  EXPECT_EQ(adapted(deepspeed, 16, {4, -1, 2}), "|16.000000 4 -1 2");
  EXPECT_EQ(adapted(deepspeed, 16, {4, -1, 0}), "|16.000000 4 -1 1");
  ScaledProgram mmcv(ScalePolicy::Mmcv);
  EXPECT_EQ(adapted(mmcv, 16, {4, -1, 2}), "|16.000000 4 -1 1");
}

} // namespace

TEST(Scaler, IsInTheMetadata) {
  const std::string rule =
      R"("scaler": {"policy": "deepspeed", "interval": 7, "hysteresis": 3,
         "consecutive": true, "growth": 4, "backoff": 0.25, "minimum": 2})";
  ScaledProgram program(ScalePolicy::Torch);
  LossScaler scaler = scalerOf(program, "{" + rule + "}");
  EXPECT_EQ(scaler.policy, ScalePolicy::DeepSpeed);
  EXPECT_EQ(scaler.interval, 7);
  EXPECT_EQ(scaler.hysteresis, 3);
  EXPECT_TRUE(scaler.consecutive);
  EXPECT_EQ(scaler.growth, 4.0);
  EXPECT_EQ(scaler.backoff, 0.25);
  EXPECT_EQ(scaler.minimum, 2.0);
  EXPECT_EQ(scaler.first, 16.0f);
  EXPECT_EQ(scalerOf(program, "{}").policy, ScalePolicy::Fixed);
}

TEST(Scaler, RulesThatAreNone) {
  auto errorOf = [](const char *text) {
    auto json = parseJson(text, "metadata");
    auto parsed = parseScaler(JsonCursor(*json, "metadata"));
    return parsed ? "ok" : parsed.takeError().message();
  };
  EXPECT_EQ(errorOf(R"({"policy": "other"})"),
            "expects a policy of --scaler, but got other");
  EXPECT_NE(errorOf(R"({"policy": "torch", "interval": 0})"), "ok");
  EXPECT_NE(errorOf(R"({"policy": "torch", "interval": 1, "hysteresis": 1})"),
            "ok");
}
