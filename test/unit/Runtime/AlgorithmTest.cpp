//===- AlgorithmTest.cpp - Schedules, row order, sampling, parsing --------===//

#include "weft/Abi/MetricsFields.h"
#include "weft/Formats/Json.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Execute/CpuFeatures.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace weft;

TEST(LearningRate, warmupThenEachKind) {
  RateSchedule rate;
  rate.lr = 1.0;
  rate.minLr = 0.1;
  rate.warmup = 4;
  rate.decaySteps = 14;
  for (RateScheduleKind kind :
       {RateScheduleKind::Constant, RateScheduleKind::Linear,
        RateScheduleKind::Cosine, RateScheduleKind::Wsd}) {
    rate.kind = kind;
    EXPECT_EQ(rate.at(1), 0.25);
    EXPECT_EQ(rate.at(4), 1.0);
    EXPECT_EQ(rate.at(5), 1.0);
    EXPECT_EQ(rate.at(15), kind == RateScheduleKind::Constant ? 1.0 : 0.1);
    EXPECT_EQ(rate.at(900), rate.at(15));
  }
  rate.kind = RateScheduleKind::Linear;
  EXPECT_DOUBLE_EQ(rate.at(10), 0.1 + 0.5 * 0.9);
  rate.kind = RateScheduleKind::Cosine;
  EXPECT_DOUBLE_EQ(rate.at(10), 0.1 + 0.5 * 0.9);
  EXPECT_DOUBLE_EQ(rate.at(7),
                   0.1 + 0.45 * (1 + std::cos(0.2 * 3.14159265358979323846)));
  rate.kind = RateScheduleKind::Wsd; // decays from i = 11 to 14
  EXPECT_EQ(rate.at(12), 1.0);
  EXPECT_DOUBLE_EQ(rate.at(13), 0.1 + 0.9 * (1 - std::sqrt(1.0 / 3)));
}

TEST(Windows, numberOfWindows) {
  EXPECT_EQ(numWindows(0, 4), 0);
  EXPECT_EQ(numWindows(4, 4), 0);
  EXPECT_EQ(numWindows(5, 4), 1);
  EXPECT_EQ(numWindows(9, 4), 2);
}

TEST(Windows, rowsReadWindowsInOrder) {
  SampleOrder order(3, /*shuffle=*/false, 0);
  for (int64_t row = 0; row < 9; ++row)
    EXPECT_EQ(order.dataRow(row), row % 3);
}

TEST(Windows, shufflingPermutesEveryEpoch) {
  for (int64_t rows : {1, 2, 3, 5, 16, 17, 1000}) {
    SampleOrder order(rows, /*shuffle=*/true, 9);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<int64_t> seen;
      for (int64_t i = 0; i < rows; ++i)
        seen.insert(order.dataRow(epoch * rows + i));
      EXPECT_EQ(int64_t(seen.size()), rows);
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), rows - 1);
    }
  }
}

TEST(Windows, shufflingDependsOnSeedAndEpoch) {
  SampleOrder a(1000, true, 1), b(1000, true, 2);
  int sameSeed = 0, sameEpoch = 0, fixed = 0;
  double distance = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    sameSeed += a.dataRow(i) == b.dataRow(i);
    sameEpoch += a.dataRow(i) == a.dataRow(1000 + i);
    fixed += a.dataRow(i) == i;
    distance += std::fabs(double(a.dataRow(i) - i)) / 1000;
  }
  EXPECT_LT(sameSeed, 10);
  EXPECT_LT(sameEpoch, 10);
  EXPECT_LT(fixed, 10);
  // A random permutation moves a row by a third of the range on average.
  EXPECT_NEAR(distance / 1000, 1.0 / 3, 0.04);
}

TEST(Sampling, greedyTopKAndFrequencies) {
  const float logits[] = {1.0f, 3.0f, 3.0f, -INFINITY};
  EXPECT_EQ(sampleToken(logits, 4, {0.0, 0, 0}, 5), 1);
  SampleOptions topOne{1.0, 1, 0}, all{1.0, 0, 3};
  int counts[4] = {};
  for (uint64_t i = 0; i < 20000; ++i) {
    EXPECT_EQ(sampleToken(logits, 4, topOne, i), 1);
    ++counts[sampleToken(logits, 4, all, i)];
  }
  double small = std::exp(-2.0) / (2 + std::exp(-2.0));
  EXPECT_NEAR(counts[0] / 20000.0, small, 0.005);
  EXPECT_NEAR(counts[1] / 20000.0, (1 - small) / 2, 0.015);
  EXPECT_EQ(counts[3], 0);
}

/// The tokens that 4000 draws give.
static std::set<int64_t> drawn(const std::vector<float> &logits,
                               const SampleOptions &options,
                               const std::vector<bool> &seen = {}) {
  std::set<int64_t> tokens;
  for (uint64_t i = 0; i < 4000; ++i)
    tokens.insert(
        sampleToken(logits.data(), int64_t(logits.size()), options, i, seen));
  return tokens;
}

TEST(Sampling, LimitsOfProbabilities) {
  // Probabilities 0.5, 0.3, 0.15, 0.05.
  std::vector<float> logits;
  for (double p : {0.3, 0.5, 0.05, 0.15})
    logits.push_back(float(std::log(p)));
  using Tokens = std::set<int64_t>;
  SampleOptions options;
  EXPECT_EQ(drawn(logits, options), (Tokens{0, 1, 2, 3}));
  options.topP = 0.45;
  EXPECT_EQ(drawn(logits, options), Tokens{1});
  options.topP = 0.55;
  EXPECT_EQ(drawn(logits, options), (Tokens{0, 1}));
  options.topP = 0.9;
  EXPECT_EQ(drawn(logits, options), (Tokens{0, 1, 3}));
  // Of two tokens, 0.625 and 0.375.
  options.topK = 2;
  options.topP = 0.6;
  EXPECT_EQ(drawn(logits, options), Tokens{1});
  options = {};
  options.minP = 0.29; // of 0.5: 0.145
  EXPECT_EQ(drawn(logits, options), (Tokens{0, 1, 3}));
  options.minP = 1.0;
  EXPECT_EQ(drawn(logits, options), Tokens{1});
}

TEST(Sampling, PenaltyOfRepetition) {
  const std::vector<float> logits = {2.0f, 1.5f, -1.0f, -1.5f};
  SampleOptions greedy;
  greedy.temperature = 0.0;
  greedy.repetitionPenalty = 2.0;
  using Tokens = std::set<int64_t>;
  EXPECT_EQ(drawn(logits, greedy), Tokens{0});
  EXPECT_EQ(drawn(logits, greedy, {true}), Tokens{1});
  // 1.0, 0.75, -2.0 and -1.5
  EXPECT_EQ(drawn(logits, greedy, {true, true, true}), Tokens{0});
  EXPECT_EQ(drawn({-1.0f, -1.5f}, greedy, {true}), Tokens{1});
}

TEST(Sampling, refusesWhatIsNoNumber) {
  const float nan[] = {0.0f, NAN}, inf[] = {INFINITY, 0.0f};
  EXPECT_EQ(sampleToken(nan, 2, {}, 0), -1);
  EXPECT_EQ(sampleToken(inf, 2, {}, 0), -1);
}

TEST(CpuFeatures, baselineIsThereAndUnknownIsMissing) {
  EXPECT_EQ(missingCpuFeatures({"sse2", "warp-drive", "cx8"}),
            std::vector<std::string>{"warp-drive"});
}

TEST(Fault, parsesAllKinds) {
  auto faults =
      Faults::parse("storage:enospc@save=2;num:nan@step=4,param=a.*b");
  ASSERT_TRUE(faults.ok());
  EXPECT_TRUE(faults->find(Fault::Kind::FullDisk, 2));
  EXPECT_FALSE(faults->find(Fault::Kind::FullDisk, 3));
  const Fault *bad = faults->find(Fault::Kind::BadGradient, 4);
  ASSERT_TRUE(bad);
  EXPECT_TRUE(std::isnan(bad->value));
  EXPECT_EQ(bad->pattern, "a.*b");
  EXPECT_TRUE(bad->matches("xaxxb"));
  EXPECT_FALSE(bad->matches("ba"));
  EXPECT_EQ(bad->rank, Fault::kAllRanks);
  EXPECT_EQ(Faults::parse("num:inf@step=2,rank=1,param=w")->all()[0].rank, 1);
  auto slow = Faults::parse("slow@step=1,3,rank=2,seconds=5;slow@step=9");
  ASSERT_TRUE(slow.ok());
  EXPECT_EQ(slow->all()[0].rank, 2);
  EXPECT_EQ(slow->all()[0].seconds, 5);
  EXPECT_TRUE(slow->all()[0].happensAt(3));
  EXPECT_EQ(slow->all()[1].rank, 0);
  EXPECT_EQ(slow->all()[1].seconds, 1);
  for (const char *text : {"x",
                           "crash@step",
                           "crash@step=0",
                           "crash@step=1,param=w",
                           "num:inf@step=1,param=",
                           "num:inf@step=1,,2",
                           "num:inf@step=3-2",
                           "num:inf@step=1-",
                           "num:inf@step=",
                           "num:inf@step=1,param=(",
                           "num:inf@step=1,param=(a)\\1",
                           "num:inf@step=1,param=a{9}",
                           "num:inf@step=1,rank=-1",
                           "num:inf@step=1,rank=w",
                           "slow@step=1,rank=",
                           "slow@step=1,rank=-1",
                           "slow@step=rank=1",
                           "slow@step=1,seconds=0",
                           "slow@step=1,seconds=3601",
                           "slow@step=1,rank=1,2",
                           "slow@step=1,param=w",
                           "crash@step=1,rank=1",
                           "slow@step=1,ran=1",
                           "flip@step=1,seconds=2",
                           "exit@step=1,seconds=2",
                           "comm:delay",
                           "comm:delay=",
                           "comm:delay=ms",
                           "comm:delay=50",
                           "comm:delay=0ms",
                           "comm:delay=-1ms",
                           "comm:delay=3600001ms",
                           "comm:delay=50ms,rank=1",
                           "skip@collective=0",
                           "skip@collective",
                           "flip@step=1,param="})
    EXPECT_FALSE(Faults::parse(text).ok()) << text;
}

TEST(Fault, theLongestDelayOfCollectivesCounts) {
  auto faults = Faults::parse("comm:delay=50ms;comm:delay=3600000ms");
  ASSERT_TRUE(faults.ok());
  EXPECT_EQ(faults->collectiveDelay().count(), 3600000);
  EXPECT_EQ(Faults::parse("crash@step=1")->collectiveDelay().count(), 0);
}

TEST(Fault, listsAndRangesOfSteps) {
  auto faults = Faults::parse("num:inf@step=2,5-7,param=a,b");
  ASSERT_TRUE(faults.ok());
  std::string steps;
  for (int64_t step = 1; step < 9; ++step)
    if (faults->find(Fault::Kind::BadGradient, step))
      steps += std::to_string(step);
  EXPECT_EQ(steps, "2567");
  EXPECT_EQ(faults->all()[0].pattern, "a,b");
}

TEST(Fault, patternsAndLongTextsDoNotHang) {
  auto faults = Faults::parse("num:inf@step=1,param=^(a+)+(a|b*)*$");
  ASSERT_TRUE(faults.ok());
  EXPECT_FALSE(faults->all()[0].matches(std::string(20000, 'a') + "!"));
  EXPECT_FALSE(Faults::parse(std::string(1 << 20, 'x')).ok());
}

static std::string metadataWith(const std::string &more) {
  return R"({"format": 1, "weft": "1", "name": "m", "family": "gpt2",
    "fingerprint": "f", "target": "cpu", "batch": 2, "accumulation": true,
    "clip_norm": "inf", "optimizers": ["sgd"])" +
         more + "}";
}

TEST(Metadata, readsEveryField) {
  auto data = parseMetadata(metadataWith(R"(, "vocab": 256, "seq": 4,
    "cpu_features": ["avx2"], "defaults": {"lr": 0.5, "eps": "1e-6"},
    "decays": {"x_weight_decay": 0.125},
    "counters": {"step": ["w"], "step.late": ["v", "u"]},
    "inputs": [{"name": "label", "limit": 10, "ignore": -100},
               {"name": "id", "limit": 4}], "ignored_weights": [".mask"],
    "initial_weights": {"files": [{"path": "a/b", "digest": "xxh3:c"}]},
    "unread_weights": ["m/x.gguf"], "tokenizer_files": ["tokenizer.json"],
    "companion_files": [{"path": "m/tokenizer.json", "digest": "xxh3:d"}],
    "config": "{}", "new": 1,
    "hyper_parameters": ["lr", "momentum"])"));
  ASSERT_TRUE(data.ok()) << data.error().where();
  EXPECT_TRUE(data->isLanguageModel());
  EXPECT_TRUE(data->canClip);
  EXPECT_EQ(data->clipNorm, "inf");
  EXPECT_EQ(data->defaults.at("lr"), "0.5");
  EXPECT_EQ(data->defaults.at("eps"), "1e-6");
  EXPECT_EQ(data->decays.at("x_weight_decay"), 0.125);
  EXPECT_EQ(data->counters.at("w"), "step");
  EXPECT_EQ(data->counters.at("u"), "step.late");
  EXPECT_EQ(data->inputLimits.at("label").limit, 10);
  EXPECT_EQ(data->inputLimits.at("label").ignore, -100);
  EXPECT_FALSE(data->inputLimits.at("id").ignore);
  EXPECT_EQ(data->initialWeights[0].path, "a/b");
  EXPECT_EQ(data->initialWeights[0].digest, "c");
  EXPECT_EQ(data->ignoredWeights, std::vector<std::string>{".mask"});
  EXPECT_EQ(data->unreadWeights, std::vector<std::string>{"m/x.gguf"});
  EXPECT_EQ(data->tokenizerFiles, std::vector<std::string>{"tokenizer.json"});
  EXPECT_EQ(data->companionFiles[0].path, "m/tokenizer.json");
  EXPECT_EQ(data->companionFiles[0].digest, "d");
  EXPECT_TRUE(data->hasHyperParameter("momentum"));
  EXPECT_FALSE(data->hasHyperParameter("beta1"));
}

TEST(Metadata, faultsAreInternalErrors) {
  for (const std::string &text :
       {std::string("{"), std::string("{}"), metadataWith(", \"vocab\": 0"),
        metadataWith(", \"inputs\": [{\"name\": \"x\"}]"),
        metadataWith(", \"inputs\": [{\"name\": \"x\", \"limit\": 2, "
                     "\"ignore\": \"y\"}]"),
        metadataWith(", \"defaults\": {\"lr\": []}"),
        metadataWith(", \"decays\": {\"x_weight_decay\": \"0\"}"),
        metadataWith(", \"counters\": {\"step\": \"w\"}"),
        metadataWith(", \"counters\": {\"a\": [\"w\"], \"b\": [\"w\"]}"),
        metadataWith(", \"launches\": []"),
        metadataWith(", \"launches\": {\"k\": [1, 2]}"),
        metadataWith(", \"launches\": {\"k\": [1, 2, 0]}")}) {
    auto data = parseMetadata(text);
    ASSERT_FALSE(data.ok()) << text;
    EXPECT_EQ(data.error().code(), ExitCode::Internal) << text;
  }
}

TEST(RunFlags, tableIsSoundAndDefaultsArePyTorchs) {
  EXPECT_TRUE(FlagTable(runFlagSpecs()).checkTable().ok());
  auto data = parseMetadata(metadataWith(", \"vocab\": 256, \"seq\": 4"));
  ASSERT_TRUE(data.ok());
  const WeftExecutable executable = {};
  auto options =
      parseRunOptions({"--data=x", "--steps=5"}, *data, executable, "p");
  ASSERT_TRUE(options.ok()) << options.error().where();
  EXPECT_EQ(options->schedule.lr, 1e-3);
  EXPECT_EQ(options->schedule.decaySteps, 5);
  EXPECT_EQ(options->weightDecay, 0.0); // sgd
  EXPECT_EQ(options->beta1, 0.9);
  EXPECT_EQ(options->beta2, 0.999);
  EXPECT_EQ(options->eps, 1e-8);
  data->defaults["weight-decay"] = "0.01"; // of adamw alone
  options = parseRunOptions({"--data=x", "--steps=5"}, *data, executable, "p");
  EXPECT_EQ(options->weightDecay, 0.01);
  data->defaults.erase("weight-decay"); // of several
  data->decays["other_weight_decay"] = 0.25;
  options = parseRunOptions({"--data=x", "--steps=5"}, *data, executable, "p");
  EXPECT_EQ(options->weightDecay, 0.0); // of sgd
  EXPECT_EQ(options->ownDecays.at("other_weight_decay"), 0.25);
  options = parseRunOptions({"--data=x", "--steps=5", "--weight-decay=0.5"},
                            *data, executable, "p");
  EXPECT_EQ(options->weightDecay, 0.5);
  EXPECT_EQ(options->ownDecays.at("other_weight_decay"), 0.5);
  data->tokenizerFiles = {"tokenizer.json"};
  EXPECT_TRUE(parseRunOptions({"--data=x", "--steps=5", "--tokenizer=bytes"},
                              *data, executable, "p")
                  ->byteTokenizer);
}

TEST(Progress, notANumberHasNoSign) {
  StepReport report;
  report.step = 1;
  report.loss = report.gradNorm = -std::nan("");
  report.losses = {{"term", -std::nan("")}};
  report.hasGradNorm = true;
  Progress progress(ProgressKind::Line, 1, 1, 1, "rows");
  testing::internal::CaptureStdout();
  progress.step(report);
  EvalReport found;
  found.step = 1;
  found.loss = -std::nan("");
  progress.eval(found);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.find("step 1/1  loss nan (term nan)  lr 0  norm nan  "), 0u)
      << text;
  EXPECT_NE(text.find("step 1  val_loss nan\n"), text.npos) << text;
}

TEST(Progress, numbersForPeople) {
  EXPECT_EQ(humanBytes(17), "17 B");
  EXPECT_EQ(humanBytes(1536), "1.50 KiB");
  StepReport report;
  report.loss = NAN;
  EXPECT_EQ(stepJson(report).find("{\"step\":0,\"loss\":null,"), 0u);
}

TEST(StepJson, saysWhatTheScaleDid) {
  StepReport report;
  EXPECT_EQ(stepJson(report).find("found_inf"), std::string::npos);
  EXPECT_EQ(stepJson(report).find("losses"), std::string::npos);
  report.lossScale = 8.0;
  report.skipped = true;
  report.foundInf = {{"default", true}, {"slow", false}};
  report.losses = {{"mlm", 1.5}, {"nsp", NAN}};
  std::string json = stepJson(report);
  for (const char *part : {R"("loss_scale":8.0)", R"("skipped":true)",
                           R"("found_inf":{"default":true,"slow":false})",
                           R"("losses":{"mlm":1.5,"nsp":null})"})
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  EvalReport found;
  found.step = 3;
  found.loss = 0.5;
  found.losses = {{"mlm", 0.25}};
  EXPECT_EQ(evalJson(found),
            R"({"step":3,"val_loss":0.5,"val_losses":{"mlm":0.25}})");
}

TEST(StepJson, hasMetricsBesideLosses) {
  StepReport report;
  EXPECT_EQ(stepJson(report).find("metrics"), std::string::npos);
  report.losses = {{"mlm", 1.5}};
  report.metrics = {{"accuracy", 0.75}, {"top5", NAN}};
  const std::string json = stepJson(report);
  EXPECT_NE(json.find(R"("losses":{"mlm":1.5},)"
                      R"("metrics":{"accuracy":0.75,"top5":null},"lr":)"),
            std::string::npos)
      << json;
  EvalReport found;
  found.metrics = {{"accuracy", 0.5}};
  EXPECT_EQ(evalJson(found),
            R"({"step":0,"val_loss":0.0,"val_metrics":{"accuracy":0.5}})");
}

/// The names that the compiler refuses for metrics.
TEST(StepJson, hasFieldsThatNoMetricMayHave) {
  StepReport report;
  report.losses = report.metrics = {{"a", 1.0}};
  report.foundInf = {{"default", true}};
  report.ranks.emplace();
  EvalReport found;
  found.losses = found.metrics = {{"a", 1.0}};
  found.perplexity = 2.0;
  found.availableRows = 1;
  std::set<std::string> fields;
  for (const std::string &text :
       {stepJson(report), evalJson(found), sampleJson(1, "")}) {
    auto json = parseJson(text, "line");
    ASSERT_TRUE(json);
    for (const JsonMember &member : json->asObject())
      fields.insert(member.name);
  }
  EXPECT_EQ(fields, std::set<std::string>(std::begin(kMetricsFields),
                                          std::end(kMetricsFields)));
}

TEST(Checkpoint, holdsWhatNothingElseGives) {
  WeftTensor tensor = {};
  std::string saved;
  for (int32_t kind : {WEFT_PARAM, WEFT_GRADIENT, WEFT_OPTIMIZER, WEFT_SCALER,
                       WEFT_WORKING, WEFT_ACCUMULATOR, WEFT_PRESENCE}) {
    tensor.kind = kind;
    saved += isSaved(tensor) ? 'x' : '.';
  }
  EXPECT_EQ(saved, "x.xx...");
}
