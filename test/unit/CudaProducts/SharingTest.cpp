//===- SharingTest.cpp - Products that leave processors to collectives ----===//
//
// The emulated cuBLASLt chooses algorithms by the number of multiprocessors and
// cuts K by the number that a product runs on: bits show what was limited.
//
//===----------------------------------------------------------------------===//

#include "ProductHarness.h"

#include "cuda/CublasLtPlan.h"

#include <cstdlib>
#include <fstream>
#include <random>

using namespace weft;
using namespace weft::cuda;

namespace {

constexpr int64_t kSize = 8;
constexpr int32_t kShared = 116; // of 132

Floats randomFloats(int64_t count) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> between(-1.0f, 1.0f);
  Floats values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(between(generator));
  return values;
}

/// A product of f32 with a depth, of a program with several ranks.
struct SharedProduct {
  static constexpr int64_t kBytes = 4096;
  const WeftGemmRecord s;
  std::unique_ptr<BlasLt> library = std::move(*BlasLt::open());
  Elements a, b, c{Floats(kSize * kSize, NAN), WEFT_F32};
  alignas(256) char workspace[kBytes];

  explicit SharedProduct(int64_t depth)
      : s(productOf(kSize, kSize, depth, 0, 0, WEFT_F32).s),
        a{randomFloats(kSize * depth), WEFT_F32},
        b{randomFloats(kSize * depth), WEFT_F32} {
    library->sharedProcessors = kShared;
  }
  GemmOperands operands() {
    return {a.data(), b.data(), c.data(), nullptr, nullptr, nullptr, nullptr};
  }
  GemmPlan plan() {
    return std::move(*makePlan(*library, s, operands(), kBytes));
  }
  Floats run(const GemmPlan &plan, bool shares) {
    Status ran = enqueue(*library, plan, operands(), {/*adds=*/false, shares},
                         workspace, /*stream=*/nullptr);
    EXPECT_TRUE(bool(ran));
    return c.values();
  }
  /// Multiprocessors that the emulated library is given for a run.
  int processorsOf(const GemmPlan &plan, bool shares);
};

} // namespace

int SharedProduct::processorsOf(const GemmPlan &plan, bool shares) {
  const std::string path =
      testing::TempDir() + "weft-sharing-" + std::to_string(getpid());
  std::remove(path.c_str());
  setenv("WEFT_EMULATION_PRODUCTS", path.c_str(), /*overwrite=*/1);
  run(plan, shares);
  unsetenv("WEFT_EMULATION_PRODUCTS");
  int m = 0, n = 0, k = 0, number = 0, processors = 0;
  EXPECT_TRUE(std::ifstream(path) >> m >> n >> k >> number >> processors);
  std::remove(path.c_str());
  return processors;
}

/// One block computes each element: the number of blocks changes no bit.
TEST(CudaSharing, AProductInOnePartIsLimitedBesideCollectives) {
  SharedProduct product(100);
  const GemmPlan plan = product.plan();
  EXPECT_TRUE(plan.mayShare);
  EXPECT_EQ(product.processorsOf(plan, /*shares=*/true), kShared);
  EXPECT_EQ(product.processorsOf(plan, /*shares=*/false), 132);
  EXPECT_EQ(product.run(plan, true), product.run(plan, false));
}

TEST(CudaSharing, AProductInPartsIsNeverLimited) {
  SharedProduct product(160);
  GemmPlan plan = product.plan();
  EXPECT_FALSE(plan.mayShare);
  EXPECT_EQ(product.processorsOf(plan, /*shares=*/true), 132);
  const Floats alone = product.run(plan, false);
  EXPECT_EQ(product.run(plan, true), alone);
  // It would have other bits.
  plan.mayShare = true;
  EXPECT_NE(product.run(plan, true), alone);
}

/// One rank has all multiprocessors, and may have another algorithm.
TEST(CudaSharing, OneRankHasAllProcessors) {
  SharedProduct product(100);
  product.library->sharedProcessors = 0;
  GemmPlan plan = product.plan();
  EXPECT_FALSE(plan.mayShare) << "K is cut in two";
  plan.mayShare = true;
  EXPECT_EQ(product.processorsOf(plan, /*shares=*/true), 132);
}

TEST(CudaSharing, TheMarkIsNoPartOfTheKey) {
  SharedProduct product(100);
  WeftGemmRecord marked = product.s;
  marked.besideCollectives = 1;
  EXPECT_EQ(keyOf(marked, product.operands(), 0),
            keyOf(product.s, product.operands(), 0));
}
