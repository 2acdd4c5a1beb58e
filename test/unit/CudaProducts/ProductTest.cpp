//===- ProductTest.cpp - Products through the emulated cuBLASLt -----------===//

#include "ProductHarness.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace weft;

TEST(CudaProduct, SizesAndTransposes) {
  TestContext context(1);
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int64_t m : {1, 7, 33})
      for (int64_t n : {1, 8, 65})
        for (int64_t k : {1, 31, 200})
          checkProduct(context, productOf(m, n, k, trans & 1, trans >> 1));
}

TEST(CudaProduct, Types) {
  TestContext context(1);
  for (int64_t dtype : {WEFT_F16, WEFT_BF16})
    for (int64_t dtypeC : {dtype, int64_t(WEFT_F32)})
      for (int64_t k : {5, 130}) {
        Product p = productOf(9, 24, k, 0, 1, dtype);
        p.s.dtypeC = dtypeC;
        checkProduct(context, p);
      }
}

TEST(CudaProduct, RowsLieApart) {
  TestContext context(1);
  for (int64_t trans = 0; trans < 4; ++trans) {
    Product p = productOf(6, 11, 17, trans & 1, trans >> 1);
    p.s.lda += 3, p.s.ldb += 1, p.s.ldc += 5;
    checkProduct(context, p);
  }
}

TEST(CudaProduct, Batches) {
  TestContext context(1);
  for (int64_t trans = 0; trans < 4; ++trans)
    for (bool shareA : {false, true})
      for (bool shareB : {false, true}) {
        if (shareA && shareB)
          continue;
        Product p = productOf(5, 16, 9, trans & 1, trans >> 1);
        setBatch(p, 3);
        if (shareA)
          p.s.batchStrideA = 0;
        if (shareB)
          p.s.batchStrideB = 0;
        checkProduct(context, p);
      }
}

TEST(CudaProduct, AddsAlwaysAndByFlag) {
  TestContext context(1);
  Product p = productOf(4, 10, 12);
  for (int64_t accumulate : {WEFT_OVERWRITE, WEFT_ADD, WEFT_ADD_IF_FLAG})
    for (float flag : {0.0f, 1.0f, -2.0f}) {
      p.s.accumulate = accumulate;
      p.flag = flag;
      checkProduct(context, p); // NaN where the old content must not be read
    }
}

TEST(CudaProduct, AFlagHasToBeKnown) {
  TestContext context(1);
  Floats ones(1, 1.0f);
  Product p = productOf(1, 1, 1);
  p.s.accumulate = WEFT_ADD_IF_FLAG;
  GuardedWorkspace workspace(4096);
  const float *data = ones.data();
  callIn(workspace, 4096, context, weft_cuda_gemm, {data, data, data, data},
         p.s, WEFT_GEMM);
  EXPECT_EQ(context.error(), 70);
  EXPECT_EQ(context.message(),
            "routine in h.3: expects the flag of accumulate to be an input of "
            "the program, but got one that the host does not know");
}

TEST(CudaProduct, Epilogues) {
  TestContext context(1);
  for (int64_t dtype : {WEFT_F32, WEFT_F16, WEFT_BF16})
    for (int64_t batch : {1, 3})
      for (int64_t bias : {0, 1})
        for (int64_t aux : {0, 1})
          for (int64_t epilogue = 0; epilogue <= 4; ++epilogue)
            for (int64_t accumulate : {WEFT_OVERWRITE, WEFT_ADD}) {
              Product p = productOf(6, 16, 20, 0, 1, dtype);
              setBatch(p, batch);
              p.s.hasBias = bias, p.s.hasAux = aux, p.s.epilogue = epilogue;
              p.s.accumulate = accumulate;
              if (findWrongEpilogue(p.s).empty())
                checkProduct(context, p);
            }
}

TEST(CudaProduct, ColumnSum) {
  TestContext context(1);
  Product p = productOf(6, 16, 20);
  p.s.epilogue = WEFT_EPILOGUE_GELU_GRAD;
  p.s.hasAux = p.s.hasColumnSum = 1;
  checkProduct(context, p);
  setBatch(p, 3);
  p.s.batchStrideB = 0; // the rows of one matrix
  checkProduct(context, p);
}

/// The sum of a factor covers one call, even if the product is added to C.
TEST(CudaProduct, SumsOfFactors) {
  TestContext context(1);
  for (int64_t dtype : {WEFT_F32, WEFT_F16, WEFT_BF16})
    for (int64_t trans = 0; trans < 4; ++trans)
      for (int64_t k : {1, 20, 150})
        for (int64_t accumulate : {WEFT_OVERWRITE, WEFT_ADD})
          for (bool isOfA : {false, true}) {
            Product p = productOf(6, 17, k, trans & 1, trans >> 1, dtype);
            p.s.dtypeC = WEFT_F32;
            p.s.lda += 3, p.s.ldb += 1;
            p.s.accumulate = accumulate;
            (isOfA ? p.s.hasSumA : p.s.hasSumB) = 1;
            checkProduct(context, p);
          }
}

TEST(CudaProduct, AnyAlignment) {
  TestContext context(1);
  for (int64_t dtype : {WEFT_F32, WEFT_BF16})
    for (int64_t shift : {1, 2, 4, 8})
      for (int64_t k : {10, 100}) {
        Product p = productOf(5, 8, k, 1, 0, dtype);
        p.shift = shift;
        p.s.hasBias = 1;
        checkProduct(context, p);
      }
}

/// The cache key of a plan contains everything that the plan depends on: the
/// second run of any product must not get another product's plan.
TEST(CudaProduct, PlansAreKept) {
  TestContext context(1);
  for (int round = 0; round < 2; ++round)
    for (int64_t bytes : {4096, -1})
      for (int64_t shift : {0, 1})
        for (int64_t n : {8, 16}) {
          Product p = productOf(5, n, 100);
          p.shift = shift;
          p.workspaceBytes = bytes;
          checkProduct(context, p);
        }
}

TEST(CudaProduct, APlanServesOtherAddresses) {
  TestContext context(1);
  Product p = productOf(1, 64, 1);
  p.s.hasBias = 1;
  alignas(256) float bias[128], b[64] = {}, c[64];
  for (int i = 0; i < 128; ++i)
    bias[i] = static_cast<float>(i);
  for (int64_t begin : {0, 64}) {
    GuardedWorkspace workspace(0);
    callIn(workspace, 0, context, weft_cuda_gemm, {b, b, c, bias + begin}, p.s,
           WEFT_GEMM);
    ASSERT_FALSE(context.failed()) << context.message();
    EXPECT_EQ(c[3], static_cast<float>(begin + 3));
  }
}

TEST(CudaProduct, RepeatsBits) {
  TestContext one(1), other(1);
  Product p = productOf(13, 24, 300, 1, 1, WEFT_BF16);
  EXPECT_EQ(runProduct(one, p).c, runProduct(other, p).c);
}

TEST(CudaProduct, NothingToMultiply) {
  TestContext context(1);
  for (int64_t accumulate : {WEFT_OVERWRITE, WEFT_ADD})
    for (int64_t bias : {0, 1})
      for (int64_t pad : {0, 3})
        for (int64_t epilogue : {WEFT_EPILOGUE_NONE, WEFT_EPILOGUE_GELU}) {
          Product p = productOf(3, 8, 0);
          p.s.lda = 1;
          p.s.ldc += pad;
          setBatch(p, 2);
          p.s.accumulate = accumulate;
          p.s.hasBias = bias;
          p.s.epilogue = epilogue;
          checkProduct(context, p);
        }
  for (auto [m, n] : {std::pair<int64_t, int64_t>{0, 4}, {4, 0}}) {
    Product p = productOf(m, n, 5);
    p.s.ldb = p.s.ldc = 4;
    checkProduct(context, p);
  }
}

TEST(CudaProduct, SumsOfFactorsOverNothingAreZero) {
  for (int64_t accumulate : {WEFT_OVERWRITE, WEFT_ADD}) {
    TestContext context(1);
    Product p = productOf(3, 8, 0);
    p.s.lda = 1;
    p.s.accumulate = accumulate;
    p.s.hasSumB = 1;
    checkProduct(context, p);
    EXPECT_EQ(runProduct(context, p).sumB, Doubles(8, 0.0));
  }
}

/// The zeros do not overlap the workspace of the algorithm.
TEST(CudaProduct, ZerosLieBesideTheWorkspace) {
  Variable needed("WEFT_EMULATION_WORKSPACE", "64");
  TestContext context(1);
  Product p = productOf(3, 8, 0);
  p.s.lda = 1;
  p.s.hasBias = 1;
  checkProduct(context, p);
}

TEST(CudaProduct, SumsOverNoRowsAreZero) {
  TestContext context(1);
  Product p = productOf(0, 8, 5);
  p.s.epilogue = WEFT_EPILOGUE_GELU_GRAD;
  p.s.hasAux = p.s.hasColumnSum = 1;
  EXPECT_EQ(runProduct(context, p).columnSum, Doubles(8, 0.0));
  EXPECT_FALSE(context.failed()) << context.message();
}

TEST(CudaProduct, ZerosNeedAWorkspace) {
  Product p = productOf(3, 100, 0);
  p.s.lda = 1;
  p.s.hasBias = 1;
  p.workspaceBytes = 256;
  TestContext context(1);
  runProduct(context, p);
  EXPECT_EQ(context.error(), 4);
  EXPECT_EQ(context.message().find("routine in h.3: expects a workspace of at "
                                   "least 512 bytes, but got "),
            0u)
      << context.message();
}

//===----------------------------------------------------------------------===//
// Values that do not fit into the type
//===----------------------------------------------------------------------===//

/// A product of ones and `factor`, K = 64.
static ProductOutputs runLarge(Product p, float factor) {
  TestContext context(1);
  p.allOfB = factor;
  ProductOutputs out = runProduct(context, p);
  EXPECT_FALSE(context.failed()) << context.message();
  return out;
}

static bool hasFinite(const Doubles &values) {
  return std::any_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

/// Sums above 65504 become infinite in f16, in what gelu gives and in what its
/// adjoint reads: there the derivative at -inf is NaN, so that found_inf sees
/// sums of both signs.
TEST(CudaProduct, OverflowOfLowProductsIsSeen) {
  Product p = productOf(4, 8, 64, 0, 0, WEFT_F16);
  for (float factor : {2000.0f, -2000.0f}) {
    EXPECT_FALSE(hasFinite(runLarge(p, factor).c));
    Product gelu = p;
    gelu.s.epilogue = WEFT_EPILOGUE_GELU;
    gelu.s.hasAux = 1;
    ProductOutputs out = runLarge(gelu, factor);
    EXPECT_FALSE(hasFinite(out.aux));
    EXPECT_EQ(hasFinite(out.c), factor < 0);
  }
  Product gradient = p;
  gradient.s.epilogue = WEFT_EPILOGUE_GELU_GRAD;
  gradient.s.hasAux = 1;
  gradient.allOfAux = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(hasFinite(runLarge(gradient, 1.0f).c));
  gradient.allOfAux = 4.0f;
  EXPECT_FALSE(hasFinite(runLarge(gradient, 2000.0f).c));
}

//===----------------------------------------------------------------------===//
// Campaign
//===----------------------------------------------------------------------===//

namespace {

class Draw {
public:
  explicit Draw(unsigned seed) : random(seed) {}
  int64_t below(int64_t end) { return random() % end; }
  bool chance(int64_t percent) { return below(100) < percent; }

  int64_t size() {
    const int64_t sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 40, 64, 65};
    return sizes[below(std::size(sizes))];
  }

  Product product() {
    const int64_t types[] = {WEFT_F32, WEFT_F16, WEFT_BF16};
    Product p = productOf(size(), size(), chance(30) ? 150 : size(), below(2),
                          below(2), types[below(3)]);
    if (chance(40))
      p.s.dtypeC = WEFT_F32;
    for (int64_t *stride : {&p.s.lda, &p.s.ldb, &p.s.ldc})
      *stride += chance(30) ? below(9) : 0;
    setBatch(p, chance(40) ? 1 + below(4) : 1);
    if (chance(30))
      (chance(50) ? p.s.batchStrideA : p.s.batchStrideB) = 0;
    p.s.accumulate = below(3);
    p.flag = static_cast<float>(below(2));
    p.shift = chance(40) ? below(9) : 0;
    p.seed = static_cast<unsigned>(below(1 << 20));
    addEpilogue(p.s);
    return p;
  }

private:
  /// One that cuBLASLt has.
  void addEpilogue(WeftGemmRecord &s) {
    const WeftGemmRecord plain = s;
    do {
      s = plain;
      s.hasBias = below(2), s.hasAux = below(2), s.epilogue = below(5);
      s.hasColumnSum = below(2);
      s.hasSumA = below(2), s.hasSumB = below(2);
    } while (!findWrongEpilogue(s).empty());
  }
  std::mt19937 random;
};

} // namespace

TEST(CudaProduct, Campaign) {
  const char *text = std::getenv("WEFT_CAMPAIGN_SEEDS");
  const unsigned seeds = text ? std::atoi(text) : 300;
  ASSERT_GT(seeds, 0u) << text;
  TestContext context(1);
  for (unsigned seed = 0; seed < seeds && !HasFailure(); ++seed)
    checkProduct(context, Draw(seed).product());
}
