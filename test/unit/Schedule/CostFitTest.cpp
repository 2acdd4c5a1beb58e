//===- CostFitTest.cpp - Rates from times, and their file -----------------===//

#include "weft/Schedule/CostFit.h"

#include "weft/Fusion/Passes.h"
#include "weft/Plan/Plan.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Weft/Weft.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <unistd.h>

using namespace weft;

namespace {

/// Commands of all sizes, with the times of `rates`, each by a factor up to
/// exp(noise) off.
std::vector<CostSample> makeSamples(const Rates &rates, double noise,
                                    uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(2, 9), off(-noise, noise);
  std::vector<CostSample> samples;
  for (int i = 0; i < 200; ++i) {
    CostSample sample;
    sample.kind = "gemm";
    sample.element = "f32";
    sample.flops = std::pow(10, exponent(random));
    sample.bytes = std::pow(10, exponent(random) - 1);
    sample.us = rates.getTimeUs({sample.flops, sample.bytes, sample.scores}) *
                std::exp(off(random));
    samples.push_back(sample);
  }
  return samples;
}

Rates makeRates(double gflops, double gigabytes, double overheadUs) {
  Rates rates;
  rates.gflops = gflops;
  rates.gigabytesPerSecond = gigabytes;
  rates.overheadUs = overheadUs;
  return rates;
}

TEST(CostFit, FindsTheRatesThatMadeTheTimes) {
  uint32_t seed = 1;
  for (const Rates &rates :
       {makeRates(70, 30, 9), makeRates(3, 0.8, 300), makeRates(900, 400, 0.1),
        makeRates(0.02, 50, 2)}) {
    for (double noise : {0.0, 0.2}) {
      std::vector<CostFit> fits = fitCosts(makeSamples(rates, noise, ++seed));
      ASSERT_EQ(fits.size(), 1u);
      const double allowed = 0.01 + noise / 2;
      EXPECT_NEAR(std::log(*fits[0].rates.gflops / rates.gflops), 0, allowed);
      EXPECT_NEAR(std::log(*fits[0].rates.gigabytesPerSecond /
                           rates.gigabytesPerSecond),
                  0, allowed);
      // Short times weigh little.
      EXPECT_NEAR(std::log(*fits[0].rates.overheadUs / rates.overheadUs), 0,
                  allowed + 2 * noise);
      EXPECT_LT(fits[0].error, allowed + 0.05);
      EXPECT_EQ(fits[0].samples, 200u);
      EXPECT_EQ(fits[0].getPart(), "gemm.f32");
    }
  }
}

TEST(CostFit, KeepsKindsAndTypesApart) {
  std::vector<CostSample> samples = makeSamples(makeRates(70, 30, 9), 0, 1);
  for (CostSample sample : makeSamples(makeRates(7, 3, 90), 0, 2)) {
    sample.element = "bf16";
    samples.push_back(sample);
  }
  for (CostSample sample : makeSamples(makeRates(1e9, 2, 50), 0, 3)) {
    sample.kind = "all_gather";
    sample.element = "";
    sample.isCollective = true;
    sample.flops = 0;
    sample.us = 50 + sample.bytes / 2e3;
    samples.push_back(sample);
  }
  std::vector<CostFit> fits = fitCosts(samples);
  ASSERT_EQ(fits.size(), 3u);
  EXPECT_EQ(fits[0].getPart(), "all_gather");
  EXPECT_FALSE(fits[0].rates.gflops);
  EXPECT_NEAR(*fits[0].rates.overheadUs, 50, 0.5);
  EXPECT_NEAR(fits[0].getTimeUs({0, 2e6}), 1050, 10);
  EXPECT_EQ(fits[1].getPart(), "gemm.bf16");
  EXPECT_NEAR(*fits[1].rates.gflops, 7, 0.1);
  EXPECT_EQ(fits[2].getPart(), "gemm.f32");
  EXPECT_NEAR(*fits[2].rates.gflops, 70, 1);
}

TEST(CostFit, LaunchesCountForAllOfTheirKinds) {
  std::vector<CostSample> samples = makeSamples(makeRates(70, 30, 9), 0, 1);
  for (CostSample &sample : samples)
    sample.kind = "launch", sample.special = "rope";
  for (CostSample sample : makeSamples(makeRates(7, 3, 90), 0, 2)) {
    sample.kind = "launch", sample.special = "rows";
    samples.push_back(sample);
  }
  std::vector<CostFit> fits = fitCosts(samples);
  ASSERT_EQ(fits.size(), 3u);
  EXPECT_EQ(fits[0].getPart(), "launch.f32");
  EXPECT_EQ(fits[0].samples, 400u);
  EXPECT_GT(fits[0].error, 0.5);
  EXPECT_EQ(fits[1].getPart(), "rope.f32");
  EXPECT_EQ(fits[1].samples, 200u);
  EXPECT_NEAR(*fits[1].rates.gflops, 70, 1);
  EXPECT_EQ(fits[2].getPart(), "rows.f32");
  EXPECT_NEAR(*fits[2].rates.gflops, 7, 0.1);
}

/// Attention with heads of 32 to 128 numbers, whose products take one to four
/// times as long as the softmax of a score, at 80 GFLOP/s and 0.6 scores a
/// nanosecond. `setCounts(sample, rows, width)` sets all but kind and time.
std::vector<CostSample> makeAttention(
    const char *kind,
    const std::function<void(CostSample &, double, double)> &setCounts) {
  Rates rates = makeRates(80, 5, 3);
  rates.gigascoresPerSecond = 0.6;
  std::vector<CostSample> samples;
  for (double width : {32, 64, 128})
    for (double rows : {64, 192, 512, 1024}) {
      CostSample &sample = samples.emplace_back();
      sample.kind = kind;
      sample.element = "f32";
      setCounts(sample, rows, width);
      sample.us = sample.imbalance *
                  rates.getTimeUs({sample.flops, sample.bytes, sample.scores});
    }
  return samples;
}

TEST(CostFit, TellsSoftmaxFromProducts) {
  const CostFit fit = fitCosts(makeAttention(
      "attention", [](CostSample &sample, double rows, double width) {
        sample.scores = 8 * rows * (rows + 64) / 2;
        sample.flops = 4 * width * sample.scores;
        sample.bytes = 8 * rows * width * 16;
      }))[0];
  EXPECT_LT(fit.error, 0.02);
  EXPECT_NEAR(std::log(*fit.rates.gflops / 80), 0, 0.1);
  EXPECT_NEAR(std::log(*fit.rates.gigascoresPerSecond / 0.6), 0, 0.2);
}

/// Three key heads on two threads: one thread has two of the three, so a call
/// takes 4/3 of even work.
TEST(CostFit, RatesDoNotContainTheImbalanceOfThreads) {
  std::vector<CostSample> samples = makeAttention(
      "attention_grad", [](CostSample &sample, double rows, double width) {
        sample.imbalance = 4.0 / 3;
        sample.scores = 3 * rows * rows;
        sample.flops = 10 * width * sample.scores;
        sample.bytes = 8 * rows * width * 12;
      });
  const CostFit fit = fitCosts(samples)[0];
  EXPECT_LT(fit.error, 0.02);
  EXPECT_NEAR(std::log(*fit.rates.gflops / 80), 0, 0.1);
  const CostSample &longest = samples.back();
  EXPECT_NEAR(fit.getTimeUs({longest.flops, longest.bytes, longest.scores}) /
                  longest.us,
              0.75, 0.02);
  // One size gives the mean rate.
  samples = {longest, longest};
  EXPECT_NEAR(*fitCosts(samples)[0].rates.gflops,
              longest.flops / (longest.us * 0.75) * 1e-3, 1e-9);
}

/// Copies of all sizes that take the same time: their bytes determine none of
/// it, and the search ends at its highest rate.
TEST(CostFit, LeavesOutRatesThatDetermineNoTime) {
  std::vector<CostSample> samples = makeSamples(makeRates(70, 30, 9), 0, 1);
  for (CostSample &sample : samples)
    sample.flops = 0, sample.us = 9;
  const CostFit fit = fitCosts(samples)[0];
  EXPECT_FALSE(fit.rates.gigabytesPerSecond);
  EXPECT_FALSE(fit.rates.gflops);
  EXPECT_NEAR(*fit.rates.overheadUs, 9, 0.1);
}

TEST(CostFit, ListsPoorFits) {
  EXPECT_EQ(listPoorFits({}), "");
  CostFit good, poor, launch;
  good.kind = "gemm", good.element = "f32", good.error = std::log(1.49);
  poor.kind = "rope", poor.element = "f32", poor.error = std::log(1.84);
  launch.kind = "launch", launch.element = "f32", launch.error = 2;
  EXPECT_EQ(listPoorFits({good, launch}), "");
  EXPECT_EQ(listPoorFits({good, launch, poor}), "rope.f32 (84 %)");
  good.error = std::log(1.52);
  EXPECT_EQ(listPoorFits({good, poor}), "gemm.f32 (52 %), rope.f32 (84 %)");
}

constexpr const char *kAttentionPlan = R"(
plan.program "eval" @eval {
  %q = plan.alloc temporary : memref<1x128x3x8xf32>
  %dq = plan.alloc temporary : memref<1x128x3x8xf32>
  %dk = plan.alloc temporary : memref<1x128x3x8xf32>
  %dv = plan.alloc temporary : memref<1x128x3x8xf32>
  %l = plan.alloc temporary : memref<1x3x128xf32>
  plan.attention_grad %q, %q, %q, %q, %q, %l -> %dq, %dk, %dv {scale = 0.125 : f64, flops = 1000000 : i64} : memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x3x128xf32> -> memref<1x128x3x8xf32>, memref<1x128x3x8xf32>, memref<1x128x3x8xf32>
}
)";

TEST(CostFit, DescribesTheImbalanceOfThreads) {
  mlir::MLIRContext context;
  context.loadDialect<plan::PlanDialect, WeftDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(kAttentionPlan, &context);
  ASSERT_TRUE(module);
  auto findImbalance = [&](int64_t threads) {
    auto programs = describeCosts(*module, threads);
    for (const CostSample &sample : programs["eval"])
      if (sample.kind == "attention_grad")
        return sample.imbalance;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(findImbalance(2), 4.0 / 3);
  EXPECT_DOUBLE_EQ(findImbalance(3), 1);
  EXPECT_DOUBLE_EQ(findImbalance(0), 1);
}

TEST(CostFit, LeavesOutWhatOnlyWaits) {
  CostSample wait;
  wait.kind = "wait";
  wait.us = 1000;
  CostSample untimed;
  untimed.kind = "gemm";
  untimed.element = "f32";
  untimed.flops = 1e6;
  EXPECT_TRUE(fitCosts({wait, untimed}).empty());
  EXPECT_TRUE(fitCosts({}).empty());
}

TEST(CostFit, OfFewSizesOneRateIsKnown) {
  CostSample sample;
  sample.kind = "gemm";
  sample.element = "f32";
  sample.flops = 3e6;
  sample.bytes = 1e3;
  sample.us = 100;
  std::vector<CostFit> fits = fitCosts({sample, sample});
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_DOUBLE_EQ(*fits[0].rates.gflops, 30);
  EXPECT_FALSE(fits[0].rates.gigabytesPerSecond);
  EXPECT_FALSE(fits[0].rates.overheadUs);
  sample.flops = 0;
  EXPECT_DOUBLE_EQ(*fitCosts({sample})[0].rates.gigabytesPerSecond, 0.01);
  sample.isCollective = true;
  EXPECT_DOUBLE_EQ(*fitCosts({sample})[0].rates.overheadUs, 100);
  EXPECT_FALSE(fitCosts({sample})[0].rates.gigabytesPerSecond);
}

/// Latency of 50 ms, as WEFT_FAULT makes it, hides what bytes take.
TEST(CostFit, ALongLatencyDoesNotMakeALinkSlow) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> off(-0.02, 0.02);
  std::vector<CostSample> samples;
  for (int i = 0; i < 40; ++i) {
    CostSample sample;
    sample.kind = "all_gather";
    sample.isCollective = true;
    sample.bytes = 1e4 * (1 + i % 10) * (1 + i % 10);
    sample.us = (50000 + sample.bytes / 3e3) * std::exp(off(random));
    samples.push_back(sample);
  }
  const CostFit fit = fitCosts(samples)[0];
  EXPECT_NEAR(fit.getTimeUs({}), 50000, 1000);
  EXPECT_NEAR(fit.getTimeUs({0, 1e6}), 50333, 2000);
  // Four times the longest of them.
  EXPECT_LT(fit.getTimeUs({0, 4e6}), 60000);
}

/// The table that readCostTable reads from `text`.
CostTable readBack(const std::string &text) {
  mlir::DialectRegistry registry;
  registerFusionModels(registry);
  mlir::MLIRContext context(registry);
  context.loadDialect<plan::PlanDialect, WeftDialect>();
  std::string path = "/tmp/weft-cost-table-XXXXXX";
  const int file = ::mkstemp(path.data());
  std::ofstream(path) << text;
  llvm::FailureOr<CostTable> table = readCostTable(&context, path);
  ::close(file);
  ::unlink(path.c_str());
  EXPECT_TRUE(succeeded(table)) << text;
  return succeeded(table) ? *table : CostTable();
}

TEST(CostTableText, IsReadBack) {
  CostTable table;
  table.parts[""] = {70.25, 31.5, 0.125};
  table.parts["gemm.bf16"] = {0.5, std::nullopt, 1234.0};
  table.parts["launch"] = {std::nullopt, 1e-9, std::nullopt};
  table.parts["attention.f32"] = {80.0, 5.0, 3.0, 0.6};
  table.parts["rope"] = {12.0, std::nullopt, std::nullopt};
  table.target = "cpu";
  table.threads = 3;
  table.parts["copy"] = {std::nullopt, 3.14159e-5, 123456.7};
  table.parts["all_gather"] = {std::nullopt, 2.5, 300.0};
  table.links[""] = {2.5, 300.0};
  table.links["replica"] = {0.5, std::nullopt};
  table.overlap = {0.25, 461.5, 48.0, 0.0};
  const std::string text =
      writeCostTable(table, {{"", "all"}, {"gemm.bf16", "two commands"}});
  EXPECT_EQ(text.find("# all\nformat = 2\ntarget = \"cpu\"\nthreads = 3\n"
                      "gflops = 70.25\n"),
            0u)
      << text;
  EXPECT_NE(text.find("# two commands\n[gemm.bf16]\n"), std::string::npos);
  CostTable read = readBack(text);
  EXPECT_EQ(*read.parts[""].gflops, 70.25);
  EXPECT_EQ(*read.parts[""].overheadUs, 0.125);
  EXPECT_EQ(*read.parts["gemm.bf16"].gflops, 0.5);
  EXPECT_FALSE(read.parts["gemm.bf16"].gigabytesPerSecond);
  EXPECT_EQ(*read.parts["gemm.bf16"].overheadUs, 1234);
  EXPECT_EQ(*read.parts["attention.f32"].gigascoresPerSecond, 0.6);
  EXPECT_FALSE(read.parts["gemm.bf16"].gigascoresPerSecond);
  EXPECT_EQ(*read.parts["rope"].gflops, 12);
  EXPECT_EQ(read.target, "cpu");
  EXPECT_EQ(read.threads, 3);
  // Nothing is 0: the file could not be read.
  EXPECT_EQ(*read.parts["launch"].gigabytesPerSecond, 1e-6);
  EXPECT_EQ(*read.parts["copy"].gigabytesPerSecond, 3.142e-5);
  EXPECT_EQ(*read.parts["copy"].overheadUs, 123457);
  EXPECT_EQ(*read.parts["all_gather"].overheadUs, 300);
  EXPECT_EQ(*read.links[""].latencyUs, 300);
  EXPECT_EQ(*read.links["replica"].gigabytesPerSecond, 0.5);
  EXPECT_FALSE(read.links["replica"].latencyUs);
  EXPECT_EQ(read.overlap.slowsCompute, 0.25);
  EXPECT_EQ(read.overlap.slowsComputeAcross, 0);
  EXPECT_EQ(read.overlap.besideUs, 461.5);
  EXPECT_EQ(read.overlap.beginUs, 48);
}

TEST(CostTableText, ATableOfOneRateIsReadBack) {
  CostTable table;
  table.parts[""].gflops = 2;
  CostTable read = readBack(writeCostTable(table, {}));
  EXPECT_EQ(read.parts[""].gflops, 2);
  EXPECT_FALSE(read.parts[""].overheadUs);
  EXPECT_EQ(read.overlap.slowsCompute, 0);
  EXPECT_FALSE(read.overlap.slowsComputeAcross);
}

} // namespace
