//===- RoutinesTest.cpp - Records of commands on the CPU ------------------===//

#include "weft/Lowering/Table/Routines.h"
#include "weft/Abi/RecordTypes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace weft;

namespace {

class RoutinesTest : public ::testing::Test {
protected:
  RoutinesTest() {
    DialectRegistry registry;
    registerLoweringCpuModels(registry);
    registry.insert<plan::PlanDialect>();
    context.appendDialectRegistry(registry);
  }

  /// The command of a program with these buffers.
  RoutineCall get(StringRef buffers, StringRef command) {
    std::string text =
        ("plan.program \"eval\" @p {\n" + buffers + "\n" + command + "\n}")
            .str();
    module = parseSourceString<ModuleOp>(text, &context);
    FailureOr<RoutineCall> made = failure();
    if (module)
      module->walk([&](plan::CommandOpInterface op) {
        made = RoutineCall::get(op, *createCpuRoutines(*module));
      });
    EXPECT_TRUE(succeeded(made)) << text;
    return succeeded(made) ? *made : RoutineCall();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr const char *kFactors = R"(
  %x = plan.alloc temporary : memref<2x3x4xf32>
  %w = plan.alloc temporary : memref<6x4xf32>
  %y = plan.alloc temporary : memref<2x3x6xf32>
  %b = plan.alloc temporary : memref<6xf32>
  %f = plan.alloc temporary : memref<f32>)";

/// The rows of all batches become the rows of one product.
TEST_F(RoutinesTest, FlatProduct) {
  RoutineCall made = get(kFactors, R"(
    plan.gemm %x * %w transposed -> %y accumulate(%f : memref<f32>) bias(%b : memref<6xf32>) : memref<2x3x4xf32> * memref<6x4xf32> -> memref<2x3x6xf32>)");
  ASSERT_EQ(made.kind, WEFT_GEMM);
  EXPECT_EQ(made.routine, "weft_cpu_gemm");
  ASSERT_EQ(made.getBytes().size(), sizeof(WeftGemmRecord));
  const WeftGemmRecord &gemm = *made.as<WeftGemmRecord>();
  EXPECT_EQ(gemm.batch, 1);
  EXPECT_EQ(gemm.m, 6);
  EXPECT_EQ(gemm.n, 6);
  EXPECT_EQ(gemm.k, 4);
  EXPECT_EQ(gemm.transA, 0);
  EXPECT_EQ(gemm.transB, 1);
  EXPECT_EQ(gemm.lda, 4);
  EXPECT_EQ(gemm.ldb, 4);
  EXPECT_EQ(gemm.ldc, 6);
  EXPECT_EQ(gemm.accumulate, WEFT_ADD_IF_FLAG);
  EXPECT_EQ(gemm.hasBias, 1);
  EXPECT_EQ(gemm.dtype, WEFT_F32);
  EXPECT_EQ(gemm.dtypeC, WEFT_F32);
}

/// Batches of slices have the strides of the whole buffers.
TEST_F(RoutinesTest, BatchOfSlices) {
  RoutineCall made = get(R"(
    %a = plan.alloc temporary : memref<2x3x8xbf16>
    %x = plan.view %a : memref<2x3x8xbf16> to memref<2x3x4xbf16, strided<[24, 8, 1], offset: 4>>
    %w = plan.alloc temporary : memref<2x4x5xbf16>
    %y = plan.alloc temporary : memref<2x3x5xf32>)",
                         R"(
    plan.gemm %x * %w -> %y accumulate : memref<2x3x4xbf16, strided<[24, 8, 1], offset: 4>> * memref<2x4x5xbf16> -> memref<2x3x5xf32>)");
  const WeftGemmRecord &gemm = *made.as<WeftGemmRecord>();
  EXPECT_EQ(gemm.batch, 2);
  EXPECT_EQ(gemm.m, 3);
  EXPECT_EQ(gemm.lda, 8);
  EXPECT_EQ(gemm.batchStrideA, 24);
  EXPECT_EQ(gemm.batchStrideB, 20);
  EXPECT_EQ(gemm.batchStrideC, 15);
  EXPECT_EQ(gemm.accumulate, WEFT_ADD);
  EXPECT_EQ(gemm.hasBias, 0);
  EXPECT_EQ(gemm.dtype, WEFT_BF16);
  EXPECT_EQ(gemm.dtypeC, WEFT_F32);
}

/// A view that swaps rows and columns is the other transposition.
TEST_F(RoutinesTest, TransposedView) {
  RoutineCall made = get(R"(
    %x = plan.alloc temporary : memref<4x6xf32>
    %t = plan.view %x : memref<4x6xf32> to memref<6x4xf32, strided<[1, 6]>>
    %y = plan.alloc temporary : memref<4x4xf32>)",
                         R"(
    plan.gemm %x * %t -> %y : memref<4x6xf32> * memref<6x4xf32, strided<[1, 6]>> -> memref<4x4xf32>)");
  const WeftGemmRecord &gemm = *made.as<WeftGemmRecord>();
  EXPECT_EQ(gemm.transB, 1);
  EXPECT_EQ(gemm.ldb, 6);
  EXPECT_EQ(gemm.accumulate, WEFT_OVERWRITE);
}

TEST_F(RoutinesTest, AttentionOfSlices) {
  std::string slice = "memref<2x8x2x2xf16, strided<[96, 12, 2, 1]";
  RoutineCall made =
      get(R"(
    %a = plan.alloc temporary : memref<2x8x12xf16>
    %q = plan.view %a : memref<2x8x12xf16> to memref<2x8x2x2xf16, strided<[96, 12, 2, 1]>>
    %k = plan.view %a : memref<2x8x12xf16> to memref<2x8x2x2xf16, strided<[96, 12, 2, 1], offset: 4>>
    %v = plan.view %a : memref<2x8x12xf16> to memref<2x8x2x2xf16, strided<[96, 12, 2, 1], offset: 8>>
    %o = plan.alloc temporary : memref<2x8x2x2xf16>
    %l = plan.alloc temporary : memref<2x2x8xf32>)",
          "plan.attention %q, %k, %v -> %o, %l {causal, scale = "
          "0.5 : f64, op_id = 3} : " +
              slice + ">>, " + slice + ", offset: 4>>, " + slice +
              ", offset: 8>> -> memref<2x8x2x2xf16>, "
              "memref<2x2x8xf32>");
  ASSERT_EQ(made.kind, WEFT_ATTENTION);
  const WeftAttentionRecord &record = *made.as<WeftAttentionRecord>();
  EXPECT_EQ(record.batch, 2);
  EXPECT_EQ(record.queries, 8);
  EXPECT_EQ(record.keys, 8);
  EXPECT_EQ(record.heads, 2);
  EXPECT_EQ(record.keyHeads, 2);
  EXPECT_EQ(record.headSize, 2);
  EXPECT_EQ(record.causal, 1);
  EXPECT_EQ(record.opId, 3);
  EXPECT_EQ(record.dtype, WEFT_F16);
  EXPECT_EQ(record.scale, 0.5);
  EXPECT_EQ(record.k.batch, 96);
  EXPECT_EQ(record.k.row, 12);
  EXPECT_EQ(record.k.head, 2);
  EXPECT_EQ(record.out.row, 4);
  EXPECT_EQ(made.getBytes().size(), sizeof record);
}

/// Rules that few commands have follow the record.
TEST_F(RoutinesTest, AttentionVariant) {
  RoutineCall made = get(R"(
    %q = plan.alloc temporary : memref<2x8x2x2xf16>
    %i = plan.alloc temporary : memref<2x8xi32>
    %o = plan.alloc temporary : memref<2x8x2x2xf16>
    %l = plan.alloc temporary : memref<2x2x8xf32>)",
                         R"(
    plan.attention %q, %q, %q -> %o, %l segments(%i : memref<2x8xi32>) {causal, scale = 0.5 : f64, softcap = 30.0 : f64, window = 4 : i64} : memref<2x8x2x2xf16>, memref<2x8x2x2xf16>, memref<2x8x2x2xf16> -> memref<2x8x2x2xf16>, memref<2x2x8xf32>)");
  const auto &record = *made.as<WeftAttentionRecord>();
  const auto bytes = static_cast<int64_t>(made.getBytes().size());
  ASSERT_EQ(bytes, int64_t(sizeof record + sizeof(WeftAttentionVariant)));
  const WeftAttentionVariant &variant = variantOf(record, bytes);
  EXPECT_EQ(variant.window, 4);
  EXPECT_EQ(variant.hasSegments, 1);
  EXPECT_EQ(variant.softcap, 30.0);
}

TEST_F(RoutinesTest, Tables) {
  RoutineCall rows = get(R"(
    %t = plan.alloc temporary : memref<16x4xf16>
    %i = plan.alloc temporary : memref<2x8xi64>
    %g = plan.alloc temporary : memref<2x8x4xf16>
    %d = plan.alloc temporary : memref<16x4xf32>)",
                         R"(
    plan.embedding_grad %g[%i] -> %d accumulate : memref<2x8x4xf16>[memref<2x8xi64>] -> memref<16x4xf32>)");
  const WeftEmbeddingGradRecord &grad = *rows.as<WeftEmbeddingGradRecord>();
  EXPECT_EQ(grad.count, 16);
  EXPECT_EQ(grad.rows, 16);
  EXPECT_EQ(grad.columns, 4);
  EXPECT_EQ(grad.dtypeIds, WEFT_I64);
  EXPECT_EQ(grad.accumulate, WEFT_ADD);
  EXPECT_EQ(grad.dtypeOut, WEFT_F16);
  EXPECT_EQ(grad.dtypeTable, WEFT_F32);
}

/// One value is a fill; others lie behind the record.
TEST_F(RoutinesTest, Constants) {
  RoutineCall fill = get("%a = plan.alloc temporary : memref<2x3xf32>",
                         "plan.constant %a = dense<0.5> : tensor<2x3xf32> : "
                         "memref<2x3xf32>");
  ASSERT_EQ(fill.kind, WEFT_FILL);
  EXPECT_EQ(fill.as<WeftFillRecord>()->elements, 6);
  EXPECT_EQ(fill.as<WeftFillRecord>()->value, 0.5);
  auto words = [&](StringRef values, StringRef shape) {
    std::string type = ("memref<" + shape + ">").str();
    RoutineCall list = get("%b = plan.alloc temporary : " + type,
                           ("plan.constant %b = dense<" + values +
                            "> : tensor<" + shape + "> : " + type)
                               .str());
    EXPECT_EQ(list.kind, WEFT_CONSTANT);
    return std::vector<int64_t>(list.record.begin(), list.record.end());
  };
  using Words = std::vector<int64_t>;
  EXPECT_EQ(words("[true, false, true]", "3xi1"),
            Words({WEFT_I1, 3, 0x010001}));
  EXPECT_EQ(words("[-2, 3]", "2xi32"), Words({WEFT_I32, 8, 0x3fffffffe}));
  EXPECT_EQ(words("[-2, 3]", "2xi64"), Words({WEFT_I64, 16, -2, 3}));
  EXPECT_EQ(words("[1.0, -2.0, 1.0]", "3xf32"),
            Words({WEFT_F32, 12, int64_t(0xc00000003f800000), 0x3f800000}));
  EXPECT_EQ(
      words("[1.0, -2.0]", "2xf64"),
      Words({WEFT_F64, 16, 0x3ff0000000000000, int64_t(0xc000000000000000)}));
  EXPECT_EQ(words("[1.0, -2.0]", "2xf16"),
            Words({WEFT_F16, 4, int64_t(0xc0003c00)}));
  EXPECT_EQ(words("[1.0, -2.0]", "2xbf16"),
            Words({WEFT_BF16, 4, int64_t(0xc0003f80)}));
}

TEST_F(RoutinesTest, StridedCopy) {
  RoutineCall made =
      get(R"(
    %a = plan.alloc temporary : memref<2x3xf32>
    %v = plan.view %a : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
    %c = plan.alloc temporary : memref<3x2xf32>)",
          "plan.copy %v to %c : memref<3x2xf32, strided<[1, 3]>> "
          "to memref<3x2xf32>");
  ASSERT_EQ(made.kind, WEFT_COPY);
  EXPECT_EQ(ArrayRef<int64_t>(made.record),
            ArrayRef<int64_t>({4, 2, 3, 1, 2, 2, 3, 1}));
}

} // namespace
