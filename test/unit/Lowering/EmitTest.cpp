//===- EmitTest.cpp - Object files and what they refuse -------------------===//

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace weft {
namespace {

const char *const kPlan = R"(
module @name attributes {plan.arena_bytes = 128 : i64,
                         weft.metadata = "{\"format\": 1}"} {
  plan.state param @w : memref<8xf32> {offset = 0 : i64}
  llvm.func @k_1(%b: !llvm.ptr, %from: i64, %to: i64)
      attributes {weft.extent = 8 : i64, weft.grain = 8 : i64} {
    llvm.return
  }
  plan.program "eval" @eval {
    %w = plan.use @w {offset = 0 : i64} : memref<8xf32>
    %a = plan.alloc temporary OFFSET : memref<8xf32>
    plan.launch @k_1 ins(%w : memref<8xf32>) outs(%a : memref<8xf32>)
    plan.output "y" %a : memref<8xf32>
  }
}
)";

std::string replace(std::string text, const std::string &from,
                    const std::string &to) {
  size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct Emitted {
  bool succeeded = false;
  std::string object, message;
};

Emitted emit(const std::string &text) {
  DialectRegistry registry;
  registry.insert<plan::PlanDialect>();
  registerLoweringCpuModels(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  Emitted result;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    result.message += diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return result;
  std::string error;
  FailureOr<CpuTarget> target = CpuTarget::parse("cpu:x86-64-v3", error);
  FailureOr<std::vector<char>> object = emitObject(*module, *target);
  result.succeeded = succeeded(object);
  if (result.succeeded)
    result.object.assign(object->begin(), object->end());
  return result;
}

std::string makePlan(const std::string &offset) {
  return replace(kPlan, "OFFSET", offset);
}

const std::string kOffset = "{offset = 64 : i64}";

TEST(EmitObject, SameBytesWhateverTheModuleIsCalled) {
  std::string plan = makePlan(kOffset);
  Emitted first = emit(plan);
  ASSERT_TRUE(first.succeeded) << first.message;
  Emitted second = emit(replace(plan, "module @name", "module @other"));
  ASSERT_TRUE(second.succeeded) << second.message;
  EXPECT_EQ(first.object, second.object);
  EXPECT_NE(first.object.find(".weft.meta"), std::string::npos);
  EXPECT_NE(first.object.find("{\"format\": 1}"), std::string::npos);
  EXPECT_NE(first.object.find("weft_tables"), std::string::npos);
}

/// How often the bytes of a number occur in an object.
template <typename Number>
int countNumber(const std::string &object, Number number) {
  std::string bytes(reinterpret_cast<const char *>(&number), sizeof number);
  int count = 0;
  for (size_t at = 0; (at = object.find(bytes, at)) != std::string::npos; ++at)
    ++count;
  return count;
}

TEST(EmitObject, EqualRecordsLieOnce) {
  std::string first = R"(
    plan.constant %a = dense<0.12345> : tensor<8xf32> : memref<8xf32>)";
  std::string plan = makePlan(kOffset);
  const std::string output = "\n    plan.output";
  double number = static_cast<double>(0.12345f);
  for (const std::string &commands : {first, first + first}) {
    Emitted made = emit(replace(plan, output, commands + output));
    ASSERT_TRUE(made.succeeded) << made.message;
    EXPECT_EQ(countNumber(made.object, number), 1);
  }
  std::string other = replace(first, "0.12345",
                              "0.12345, 2.0, 3.0, 4.0, 5.0, "
                              "6.0, 7.0, 8.0");
  other = replace(replace(other, "<0.12345", "<[0.12345"), "8.0>", "8.0]>");
  // A list holds the elements as they lie in memory.
  for (const std::string &commands : {first + other, first + other + other}) {
    Emitted made = emit(replace(plan, output, commands + output));
    ASSERT_TRUE(made.succeeded) << made.message;
    EXPECT_EQ(countNumber(made.object, number), 1);
    EXPECT_EQ(countNumber(made.object, 0.12345f), 1);
  }
}

TEST(EmitObject, RefusesWhatTheCpuCannotRun) {
  const std::string launch = "\n    plan.launch";
  std::string types = " : memref<8x1xf32> * memref<1x1xf32> -> memref<8x1xf32>";
  for (auto [clause, wrong] :
       {std::pair("epilogue gelu", "an epilogue"),
        std::pair("column_sum(%s : memref<1xf32>)", "a column_sum"),
        std::pair("lhs_sum(%r8 : memref<8xf32>)", "an lhs_sum"),
        std::pair("rhs_sum(%s : memref<1xf32>)", "an rhs_sum")}) {
    std::string gemm = R"(
    %s = plan.alloc temporary OFFSET : memref<1xf32>
    %r8 = plan.alloc temporary OFFSET : memref<8xf32>
    %u = plan.alloc temporary OFFSET : memref<1x1xf32>
    %l = plan.view %w : memref<8xf32> to memref<8x1xf32>
    %r = plan.view %a : memref<8xf32> to memref<8x1xf32>
    plan.gemm %l * %u -> %r )" +
                       std::string(clause) + types;
    for (int i = 0; i < 3; ++i)
      gemm = replace(gemm, "OFFSET", kOffset);
    Emitted made = emit(replace(makePlan(kOffset), launch, gemm + launch));
    EXPECT_FALSE(made.succeeded);
    EXPECT_NE(made.message.find(
                  "expects a product with at most a bias on the CPU, but got " +
                  std::string(wrong)),
              std::string::npos)
        << made.message;
  }
}

TEST(EmitObject, RefusesCommandsWithoutTheirWorkspace) {
  const std::string launch = "\n    plan.launch";
  std::string plan = makePlan(kOffset);
  for (auto [alloc, clause, got] :
       {std::tuple("", "", "got 0"),
        std::tuple("%ws = plan.alloc workspace {offset = 64 : i64} : "
                   "memref<64xi8>",
                   " workspace(%ws : memref<64xi8>)", "got 64")}) {
    std::string gemm = std::string(alloc) + R"(
    %u = plan.alloc temporary {offset = 64 : i64} : memref<1x1xf32>
    %l = plan.view %w : memref<8xf32> to memref<8x1xf32>
    %r = plan.view %a : memref<8xf32> to memref<8x1xf32>
    plan.gemm %l * %u -> %r)" +
                       clause +
                       " : memref<8x1xf32> * memref<1x1xf32> -> "
                       "memref<8x1xf32>";
    Emitted made = emit(replace(plan, launch, gemm + launch));
    EXPECT_FALSE(made.succeeded);
    EXPECT_NE(made.message.find("for 16 threads (weft-add-workspaces), but " +
                                std::string(got)),
              std::string::npos)
        << made.message;
  }
  Emitted none = emit(replace(plan, "plan.arena_bytes = 128 : i64,",
                              "plan.arena_bytes = 128 : i64, "
                              "plan.max_threads = 2000 : i64,"));
  EXPECT_NE(none.message.find("expects plan.max_threads of 1 to 1024, but got "
                              "2000"),
            std::string::npos)
      << none.message;
}

TEST(EmitObject, RefusesStreamsThatTheCpuHasNot) {
  for (const char *command :
       {"plan.launch @k_1 ins(%w : memref<8xf32>) outs(%a : memref<8xf32>) "
        "{stream = 1 : i64}",
        "plan.copy %w to %a {stream = 1 : i64} : memref<8xf32> to "
        "memref<8xf32>"}) {
    const std::string output = "\n    plan.output";
    std::string plan = replace(makePlan(kOffset), output,
                               "\n    " + std::string(command) + output);
    EXPECT_NE(emit(plan).message.find(
                  "expects stream 0, the only one of the CPU that computes, "
                  "but got 1"),
              std::string::npos);
    EXPECT_TRUE(emit(replace(plan, "stream = 1", "stream = 0")).succeeded);
  }
}

TEST(EmitObject, RefusesBuffersWithoutPlace) {
  EXPECT_NE(emit(makePlan("")).message.find("run weft-plan-memory"),
            std::string::npos);
}

TEST(EmitObject, RefusesKernelsWithoutRange) {
  std::string plan = replace(makePlan(kOffset), "weft.extent = 8 : i64, ", "");
  EXPECT_NE(emit(plan).message.find("expects a kernel that weft-lower-to-cpu "
                                    "has lowered, but @k_1 is none"),
            std::string::npos);
}

TEST(EmitObject, RefusesStatesAndModulesWithoutPlace) {
  std::string plan = makePlan(kOffset);
  std::string state = replace(plan, "memref<8xf32> {offset = 0 : i64}\n  llvm",
                              "memref<8xf32>\n  llvm");
  EXPECT_NE(emit(state).message.find("expects an arena offset"),
            std::string::npos);
  std::string arena = replace(plan, "plan.arena_bytes = 128 : i64,", "");
  EXPECT_NE(emit(arena).message.find("expects the attribute plan.arena_bytes"),
            std::string::npos);
}

// Two states hold the parameter w, one of them in a segment.
TEST(EmitObject, RefusesTwoTensorsOfOneName) {
  std::string flat = R"(
  plan.state param @flat : memref<16xf32> {offset = 64 : i64, segments = [
    #plan.segment<@v [4] at 0 to 4>, #plan.segment<@w [8] at 8 to 16>]}
  llvm)";
  std::string plan = replace(makePlan(kOffset), "\n  llvm", flat);
  EXPECT_NE(emit(plan).message.find(
                "expects each tensor in one place, but got a second @w"),
            std::string::npos);
  EXPECT_TRUE(emit(replace(plan, "@w [8]", "@u [8]")).succeeded);
}

// The run time asks for the program of a kind.
TEST(EmitObject, RefusesProgramsThatItCouldConfuse) {
  std::string plan = makePlan(kOffset);
  EXPECT_TRUE(emit(replace(plan, "@eval", "@test")).succeeded);
  EXPECT_NE(emit(replace(plan, "\"eval\" @eval", "\"eval\" @apply"))
                .message.find("expects a program of kind \"apply\" under the "
                              "name @apply, but got \"eval\""),
            std::string::npos);
  std::string two = replace(plan, "  plan.program",
                            "  plan.program \"eval\" @a {\n  }\n  "
                            "plan.program");
  EXPECT_TRUE(emit(two).succeeded);
  EXPECT_NE(emit(replace(two, "@eval", "@b"))
                .message.find("expects one program of kind \"eval\", or one of "
                              "them called @eval, but got @a and @b"),
            std::string::npos);
}

TEST(EmitObject, RefusesKernelsThatAreNotLowered) {
  Emitted result = emit(R"(llvm.func @k_1(%x: f32) -> f32 {
    %y = math.exp %x : f32
    llvm.return %y : f32
  })");
  EXPECT_FALSE(result.succeeded);
  EXPECT_NE(result.message.find("run weft-lower-to-cpu first"),
            std::string::npos)
      << result.message;
}

} // namespace
} // namespace weft
