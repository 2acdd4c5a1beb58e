//===- ModelTest.cpp - Configurations and model text become modules -------===//

#include "Fixture.h"
#include "TestPaths.h"

using namespace weft;

static const char *const kExamples = WEFT_SOURCE "/examples/";

TEST_F(FrontendTest, LoadsTheExamples) {
  for (std::string name :
       {"gpt2-mini", "llama-mini", "gpt2-124m", "mlp.mlir"}) {
    ASSERT_TRUE(load(kExamples + name)) << messages;
    EXPECT_EQ(messages, "");
    // The printed module reads back to the same text.
    std::string printed = text();
    auto again = parseText(printed, "printed.mlir", context);
    ASSERT_TRUE(succeeded(again)) << name << messages;
    module = std::move(*again);
    EXPECT_EQ(printed, text());
  }
}

TEST_F(FrontendTest, DropoutsHaveNumbersOfTheirOwn) {
  ASSERT_TRUE(load(std::string(kExamples) + "gpt2-124m"));
  std::set<int64_t> ids;
  module->walk([&](mlir::Operation *op) {
    if (auto dropout = llvm::dyn_cast<DropoutOp>(op))
      EXPECT_TRUE(ids.insert(dropout.getOpId()).second);
    if (auto attn = llvm::dyn_cast<AttentionOp>(op))
      if (!attn.getDropout().isZero())
        EXPECT_TRUE(ids.insert(attn.getOpId()).second);
  });
  // One after the embedding; one in and two after each attention and MLP.
  EXPECT_EQ(ids.size(), 1u + 12u * 3u);
}

TEST_F(FrontendTest, CountsGpt2Parameters) {
  ASSERT_TRUE(load(std::string(kExamples) + "gpt2-124m"));
  int64_t elements = 0;
  for (ParamOp param : module->getOps<ParamOp>())
    if (!param.getTie())
      elements += param.getTensorType().getNumElements();
  EXPECT_EQ(elements, 124439808);
}

TEST_F(FrontendTest, RefusesDeepNestingAndBytecode) {
  std::string deep(10000, '[');
  EXPECT_FALSE(load(write("deep.mlir", "// ((\n\"((\" " + deep)));
  EXPECT_EQ(messages,
            "deep.mlir:2: expects at most 256 nested brackets, but got more\n");
  EXPECT_FALSE(load(write("code.mlir", std::string("ML\xefR\0\0", 6))));
  EXPECT_EQ(messages,
            "code.mlir:0: expects a model as text, but got MLIR bytecode\n");
  // Arrows and brackets in strings do not count.
  std::string arrows = "module attributes {test.a = \"";
  arrows += std::string(300, '(') + "\"} {\n";
  for (int i = 0; i < 300; ++i)
    arrows += "// ((\nweft.param @a" + std::to_string(i) + " : tensor<f32>\n";
  ASSERT_TRUE(succeeded(parseText(arrows + "}", "ok.mlir", context)));
}
