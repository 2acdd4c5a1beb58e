//===- DeviceRatesTest.cpp - Rates of machines that are known -------------===//

#include "weft/Schedule/CostTableFile.h"

#include "weft/Plan/Plan.h"
#include "weft/Schedule/ClusterFile.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace weft;

namespace {

using Part = CostTable::Part;

void expectSame(const Part &got, const Part &want) {
  EXPECT_EQ(got.gflops, want.gflops);
  EXPECT_EQ(got.gigabytesPerSecond, want.gigabytesPerSecond);
  EXPECT_EQ(got.overheadUs, want.overheadUs);
  EXPECT_EQ(got.gigascoresPerSecond, want.gigascoresPerSecond);
}

Part toPart(const Rates &rates) {
  return {rates.gflops, rates.gigabytesPerSecond, rates.overheadUs,
          rates.gigascoresPerSecond};
}

} // namespace

// Not its links: no program for a CUDA device has several ranks yet.
TEST(DeviceRates, OfAnH100AreThoseOfTheExample) {
  MLIRContext context;
  context.loadDialect<plan::PlanDialect, WeftDialect>();
  FailureOr<ClusterFile> file = readClusterFile(&context, TEST_H100_CLUSTER);
  ASSERT_TRUE(succeeded(file) && file->costs);
  const KnownRates *known = findKnownRates("h100");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->machine, "one H100");
  const CostTable table = known->makeTable();
  for (const auto &[name, part] : table.parts) {
    SCOPED_TRACE(name.str());
    expectSame(part, file->costs->parts.lookup(name));
  }
  for (const auto &[name, part] : file->costs->parts) {
    SCOPED_TRACE(name.str());
    expectSame(table.parts.lookup(name), part);
  }
  EXPECT_EQ(table.parts.size(), 7u);
}

TEST(DeviceRates, Names) {
  const KnownRates *cores = findKnownRates("cpu");
  ASSERT_TRUE(cores);
  EXPECT_EQ(cores->machine, "two x86 cores");
  expectSame(toPart(cores->makeTable().getRates({}, Type())), toPart(Rates()));
  EXPECT_FALSE(findKnownRates("a100"));
}

// Rates of a table for all commands override the machine's own rates of single
// commands.
TEST(DeviceRates, BehindATable) {
  MLIRContext context;
  const Type half = Builder(&context).getF16Type();
  CostTable table;
  table.base = std::make_shared<CostTable>(findKnownRates("h100")->makeTable());
  const Rates h100 = table.base->getRates({"gemm"}, half);
  table.parts["gemm.f16"].gflops = 5;
  Rates gemm = table.getRates({"gemm"}, half);
  EXPECT_EQ(gemm.gflops, 5);
  EXPECT_EQ(gemm.gigabytesPerSecond, h100.gigabytesPerSecond);
  EXPECT_EQ(table.getRates({"attention"}, half).gflops,
            table.base->getRates({"attention"}, half).gflops);
  table.parts[""].gflops = 7;
  EXPECT_EQ(table.getRates({"gemm"}, half).gflops, 5);
  EXPECT_EQ(table.getRates({"attention"}, half).gflops, 7);
}
