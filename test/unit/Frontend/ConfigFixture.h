//===- ConfigFixture.h - Configurations with more fields --------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_FRONTEND_CONFIGFIXTURE_H
#define WEFT_TEST_UNIT_FRONTEND_CONFIGFIXTURE_H

#include "Fixture.h"

#include "mlir/IR/BuiltinAttributes.h"

class ConfigTest : public FrontendTest {
protected:
  /// A small GPT-2 with more fields, each on a line of its own from line 3.
  std::string gpt2(const std::string &more = "") {
    return write(
        "config.json",
        "{\"model_type\": \"gpt2\", \"vocab_size\": 8, \"n_embd\": 4,\n"
        "\"n_positions\": 4, \"n_layer\": 1, \"n_head\": 2" +
            (more.empty() ? "" : ",\n" + more) + "}");
  }
  std::string llama(const std::string &more = "") {
    return write(
        "config.json",
        "{\"model_type\": \"llama\", \"vocab_size\": 8, \"hidden_size\": 8,\n"
        "\"intermediate_size\": 6, \"num_hidden_layers\": 1,\n"
        "\"num_attention_heads\": 2, \"max_position_embeddings\": 4" +
            (more.empty() ? "" : ",\n" + more) + "}");
  }

  /// The messages of a load that must fail.
  std::string errorOf(const std::string &path) {
    EXPECT_FALSE(load(path));
    return messages;
  }

  /// The recorded value of a config field as text.
  std::string recorded(const std::string &field) {
    auto config = (*module)->getAttrOfType<mlir::DictionaryAttr>("weft.config");
    std::string result;
    llvm::raw_string_ostream(result) << config.get(field);
    return result;
  }

  template <typename Op> int count() {
    int number = 0;
    module->walk([&](Op) { ++number; });
    return number;
  }
};

#endif // WEFT_TEST_UNIT_FRONTEND_CONFIGFIXTURE_H
