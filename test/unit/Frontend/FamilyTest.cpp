//===- FamilyTest.cpp - Rows of the family table --------------------------===//

#include "ConfigFixture.h"
#include "FamilyTable.h"

#include <set>

using namespace weft;

namespace {
class FamilyTest : public ConfigTest {
protected:
  /// A small model of a family with Llama's sizes.
  std::string model(const std::string &family, const std::string &more = "") {
    return write("config.json",
                 "{\"model_type\": \"" + family +
                     "\", \"vocab_size\": 8, \"hidden_size\": 16,\n"
                     "\"intermediate_size\": 6, \"num_hidden_layers\": 2,\n"
                     "\"num_attention_heads\": 4, "
                     "\"max_position_embeddings\": 16, "
                     "\"pad_token_id\": null" +
                     (more.empty() ? "" : ",\n" + more) + "}");
  }

  /// The constants of the model, in order.
  std::vector<mlir::Attribute> constants(const std::string &path) {
    std::vector<mlir::Attribute> values;
    EXPECT_TRUE(load(path)) << messages;
    if (module)
      module->walk([&](ConstantOp op) { values.push_back(op.getValue()); });
    return values;
  }

  std::vector<int64_t> windows(const std::string &path) {
    std::vector<int64_t> found;
    EXPECT_TRUE(load(path)) << messages;
    if (module)
      module->walk([&](AttentionOp op) {
        if (op->getParentOfType<ProgramOp>().getKind() == ProgramKind::Model)
          found.push_back(op.getWindow().value_or(0));
      });
    return found;
  }

  using Windows = std::vector<int64_t>;
};
} // namespace

TEST_F(FamilyTest, RowsNameEachFieldOnce) {
  std::set<llvm::StringRef> names;
  for (const Family &family : families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name.str();
    std::set<llvm::StringRef> fields;
    auto add = [&](const auto &rows) {
      for (const auto &row : rows)
        EXPECT_TRUE(fields.insert(row.name).second)
            << family.name.str() << " " << row.name.str();
    };
    add(family.sizes);
    add(family.numbers);
    add(family.flags);
    add(family.fixed);
  }
}

TEST_F(FamilyTest, SpellingsOfRopeAgree) {
  const std::pair<const char *, const char *> types[] = {
      {"linear", "\"factor\": 2"},
      {"dynamic", "\"factor\": 2"},
      {"yarn", "\"factor\": 2, \"original_max_position_embeddings\": 8"},
      {"longrope", "\"short_factor\": [1, 2], \"long_factor\": [2, 3]"}};
  for (auto [type, fields] : types) {
    const std::string name = std::string("_type\": \"") + type + "\", ";
    auto outer = constants(
        model("llama", "\"rope_theta\": 500, \"rope_scaling\": {\"rope" + name +
                           fields + "}"));
    auto inner = constants(
        model("llama", "\"rope_parameters\": {\"rope_theta\": 500, \"rope" +
                           name + fields + "}"));
    EXPECT_EQ(outer.size(), 4u) << type;
    EXPECT_EQ(outer, inner) << type;
  }
}

/// Dynamic scaling lets rows be longer than in pretraining.
TEST_F(FamilyTest, DynamicRopeStretchesTheContext) {
  options.seq = 24;
  EXPECT_TRUE(load(model("llama", "\"rope_scaling\": {\"type\": \"dynamic\", "
                                  "\"factor\": 1.5}")))
      << messages;
  options.seq = 25;
  EXPECT_EQ(errorOf(model("llama", "\"rope_scaling\": {\"type\": \"dynamic\", "
                                   "\"factor\": 1.5}")),
            "config.json:0: expects --seq from 1 to the model's context of "
            "24, but got 25\n");
}

TEST_F(FamilyTest, NullAndMissingDiffer) {
  options.seq = 8;
  EXPECT_EQ(errorOf(model("mistral")),
            "config.json:1: field 'num_key_value_heads': expects a divisor of "
            "num_attention_heads = 4, but got 8\n");
  ASSERT_TRUE(load(model("mistral", "\"num_key_value_heads\": null")))
      << messages;
  EXPECT_EQ(recorded("num_key_value_heads"), "{default, value = 4 : i64}");
  EXPECT_EQ(recorded("sliding_window"), "{default, value = 4096 : i64}");
  ASSERT_TRUE(load(model("mistral", "\"num_key_value_heads\": 2, "
                                    "\"sliding_window\": null")))
      << messages;
  EXPECT_EQ(recorded("sliding_window"), "{value = \"none\"}");
  ASSERT_TRUE(load(model("gemma2", "\"num_key_value_heads\": 2, "
                                   "\"final_logit_softcapping\": null")))
      << messages;
  EXPECT_EQ(count<TanhOp>(), 0);
}

TEST_F(FamilyTest, WindowsOfLayers) {
  options.seq = 8;
  const std::string small = "\"num_key_value_heads\": 2, \"sliding_window\": 3";
  EXPECT_EQ(windows(model("mistral", small)), Windows({3, 3}));
  EXPECT_EQ(windows(model("gemma2", small)), Windows({3, 0}));
  EXPECT_EQ(windows(model("gemma3_text", small)), Windows({3, 3}));
  EXPECT_EQ(
      windows(model("gemma3_text", small + ", \"sliding_window_pattern\": 2")),
      Windows({3, 0}));
  EXPECT_EQ(windows(model("qwen2", small)), Windows({0, 0}));
  EXPECT_EQ(windows(model("qwen2", small + ", \"use_sliding_window\": true, "
                                           "\"max_window_layers\": 1")),
            Windows({0, 3}));
  EXPECT_EQ(windows(model("gemma2", small + ", \"layer_types\": "
                                            "[\"full_attention\", "
                                            "\"sliding_attention\"]")),
            Windows({0, 3}));
}
