//===- DeviceRatesTest.cpp - Rates of machines that are known -------------===//

#include "weft/Schedule/DeviceRates.h"

#include "weft/Plan/Plan.h"
#include "weft/Schedule/ClusterFile.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace weft;

namespace {

void expectSame(const Rates &got, const Rates &want) {
  EXPECT_EQ(got.gflops, want.gflops);
  EXPECT_EQ(got.gigabytesPerSecond, want.gigabytesPerSecond);
  EXPECT_EQ(got.overheadUs, want.overheadUs);
}

} // namespace

TEST(DeviceRates, OfAnH100AreThoseOfTheExample) {
  MLIRContext context;
  context.loadDialect<plan::PlanDialect>();
  FailureOr<ClusterFile> file = readClusterFile(&context, TEST_H100_CLUSTER);
  ASSERT_TRUE(succeeded(file) && file->costs);
  FailureOr<CostTable> rates = findKnownRates("h100");
  ASSERT_TRUE(succeeded(rates));
  Builder builder(&context);
  for (const char *kind : {"", "gemm", "attention", "attention_grad", "copy"})
    for (Type type : {Type(builder.getF32Type()), Type(builder.getF16Type()),
                      Type(builder.getBF16Type())}) {
      SCOPED_TRACE(kind);
      expectSame(rates->getRates(kind, type),
                 file->costs->getRates(kind, type));
    }
  EXPECT_GT(rates->getRates("gemm", builder.getF16Type()).gflops,
            rates->getRates("gemm", builder.getF32Type()).gflops);
}

TEST(DeviceRates, Names) {
  FailureOr<CostTable> cores = findKnownRates("cpu");
  ASSERT_TRUE(succeeded(cores));
  expectSame(cores->getRates("", Type()), Rates());
  EXPECT_TRUE(failed(findKnownRates("a100")));
}
