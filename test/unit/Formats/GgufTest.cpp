//===- GgufTest.cpp - Reading of GGUF files -------------------------------===//

#include "weft/Formats/Gguf.h"

#include "../Base/TestSupport.h"
#include "GgufBytes.h"

#include "weft/Formats/GgufVocabulary.h"

using namespace weft;

namespace {

Expected<GgufFile> parse(const std::string &bytes) {
  return GgufFile::open(std::make_unique<MemoryBytes>(
      reinterpret_cast<const uint8_t *>(bytes.data()),
      static_cast<int64_t>(bytes.size()), "m.gguf"));
}

std::string openFailure(const std::string &bytes) {
  std::string text = errorOf(parse(bytes));
  const std::string front = "3|m.gguf: ";
  return text.compare(0, front.size(), front) == 0 ? text.substr(front.size())
                                                   : text;
}

const std::string kTruncated =
    "|the file is truncated or damaged: copy it again";

TEST(Gguf, ValuesAndTensors) {
  GgufBytes made;
  made.string("general.name", "a name").integer("n", 7).number("eps", 1e-5f);
  made.value("yes", 7, "\1").value("big", 10, GgufBytes::raw<uint64_t>(1));
  made.value("small", 1, "\xff").value("wide", 12, GgufBytes::raw(0.25));
  made.value(
      "texts", 9,
      GgufBytes::array(8, 2, GgufBytes::text("a") + GgufBytes::text("")));
  made.value("ints", 9, GgufBytes::array(5, 1, GgufBytes::raw<int32_t>(-3)));
  made.value("nested", 9,
             GgufBytes::array(9, 1, GgufBytes::array(0, 3, "abc")));
  made.filled("w", 0, {3, 2}, std::string(24, '\0'));
  made.filled("v", 1, {2}, std::string("\0\x3c\0\xc0", 4));
  const std::string bytes = made.bytes();
  auto file = parse(bytes);
  ASSERT_TRUE(file) << errorOf(file);
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(**file->text("general.name"), "a name");
  EXPECT_EQ(**file->integer("n"), 7);
  EXPECT_EQ(**file->integer("big"), 1);
  EXPECT_EQ(**file->integer("small"), -1);
  EXPECT_EQ(**file->number("eps"), 1e-5);
  EXPECT_EQ(**file->number("n"), 7.0);
  EXPECT_EQ(**file->number("wide"), 0.25);
  EXPECT_TRUE(**file->boolean("yes"));
  EXPECT_EQ(**file->texts("texts"), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(**file->integers("ints"), std::vector<int64_t>{-3});
  EXPECT_FALSE(file->text("none")->has_value());
  EXPECT_EQ(*file->rawValue(*file->findEntry("nested")),
            GgufBytes::array(9, 1, GgufBytes::array(0, 3, "abc")));
  const GgufTensor *w = file->find("w");
  ASSERT_TRUE(w);
  EXPECT_EQ(w->shape, (std::vector<int64_t>{2, 3}));
  float values[2];
  ASSERT_TRUE(file->readFloats(*file->find("v"), 0, 2, values));
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[1], -2.0f);
  EXPECT_EQ(errorOf(file->readFloats(*w, 5, 2, values)),
            "3|m.gguf: tensor 'w' has 6 elements, but got the range from 5 of "
            "length 2");
  EXPECT_TRUE(parse(made.bytes(2)));
}

TEST(Gguf, ValuesOfAnotherType) {
  GgufBytes made;
  made.integer("n", 7).string("s", "x");
  made.value("huge", 10, GgufBytes::raw<uint64_t>(~0ull));
  made.value("inf", 6, GgufBytes::raw(1e30f * 1e30f));
  const std::string bytes = made.bytes();
  auto file = parse(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(errorOf(file->text("n")),
            "3|m.gguf: key 'n' at byte 37: expects a string, but got u32");
  EXPECT_EQ(errorOf(file->integer("s")),
            "3|m.gguf: key 's' at byte 54: expects an integer, but got string");
  EXPECT_EQ(errorOf(file->number("s")),
            "3|m.gguf: key 's' at byte 54: expects a number, but got string");
  EXPECT_EQ(errorOf(file->boolean("n")),
            "3|m.gguf: key 'n' at byte 37: expects a bool, but got u32");
  EXPECT_EQ(errorOf(file->texts("s")),
            "3|m.gguf: key 's' at byte 54: expects an array of strings, but "
            "got string");
  EXPECT_EQ(errorOf(file->integers("n")),
            "3|m.gguf: key 'n' at byte 37: expects an array of integers, but "
            "got u32");
  EXPECT_EQ(errorOf(file->floats("n")),
            "3|m.gguf: key 'n' at byte 37: expects an array of f32, but got "
            "u32");
  EXPECT_EQ(errorOf(file->integer("huge")),
            "3|m.gguf: key 'huge' at byte 79: expects an integer of at most 63 "
            "bits");
  EXPECT_EQ(errorOf(file->number("inf")),
            "3|m.gguf: key 'inf' at byte 102: expects a finite number");
}

TEST(Gguf, HeaderErrors) {
  EXPECT_EQ(openFailure("PK\3\4 docs"),
            "byte 0: expects a GGUF file, which begins with 'GGUF', but got a "
            "zip archive");
  EXPECT_EQ(openFailure("GG"),
            "byte 0: expects a GGUF file, which begins with 'GGUF', but got "
            "text");
  EXPECT_EQ(openFailure("GGUF\3"),
            "byte 4: expects 4 bytes of the version, but "
            "the file ends at byte 5" +
                kTruncated);
  EXPECT_EQ(openFailure(GgufBytes().bytes(1)),
            "byte 4: expects GGUF version 2 or 3, but got 1");
  EXPECT_EQ(openFailure(GgufBytes().bytes(3u << 24)),
            "byte 4: does not support GGUF files in big endian yet|convert the "
            "model again for little endian");
  GgufBytes many;
  many.tensorCount = 1ull << 60;
  EXPECT_EQ(openFailure(many.bytes()),
            "byte 24: expects at most 0 tensors in the rest of the file, but "
            "got 1152921504606846976" +
                kTruncated);
  many.tensorCount = 0;
  many.valueCount = ~0ull;
  EXPECT_EQ(openFailure(many.bytes()),
            "byte 24: expects at most 0 values of metadata in the rest of the "
            "file, but got 18446744073709551615" +
                kTruncated);
}

TEST(Gguf, MetadataErrors) {
  const auto of = [](const GgufBytes &made) {
    return openFailure(made.bytes());
  };
  EXPECT_EQ(of(GgufBytes().string("", "x")),
            "byte 24: expects a key of 1 to 65535 bytes, but got 0");
  EXPECT_EQ(of(GgufBytes().value("k", 13, "")),
            "byte 33: expects a type of a value from 0 to 12, but got 13");
  EXPECT_EQ(of(GgufBytes().value("k", 7, "\2")),
            "byte 37: expects a bool of 0 or 1, but got 2");
  EXPECT_EQ(of(GgufBytes().value("k", 8, GgufBytes::raw<uint64_t>(1ull << 63))),
            "byte 45: expects at most 19 bytes of text in the rest of the "
            "file, but got 9223372036854775808" +
                kTruncated);
  EXPECT_EQ(of(GgufBytes().value("k", 9, GgufBytes::array(4, 1ull << 62, ""))),
            "byte 49: expects at most 3 array elements in the rest of the "
            "file, but got 4611686018427387904" +
                kTruncated);
  EXPECT_EQ(of(GgufBytes().value("k", 9, GgufBytes::array(7, 2, "\1\3"))),
            "byte 50: expects a bool of 0 or 1, but got 3");
  EXPECT_EQ(of(GgufBytes().value("k", 9, GgufBytes::array(13, 0, ""))),
            "byte 37: expects a type of array elements from 0 to 12, but got "
            "13");
  std::string deep = GgufBytes::array(0, 0, "");
  for (int i = 0; i < 9; ++i)
    deep = GgufBytes::array(9, 1, deep);
  EXPECT_EQ(of(GgufBytes().value("k", 9, deep)),
            "byte 121: expects arrays nested to a depth of at most 8");
  EXPECT_EQ(of(GgufBytes().integer("k", 1).integer("k", 1)),
            "expects each key once, but got 'k' twice");
  for (uint32_t wrong : {0u, 4u, 48u, 1u << 31})
    EXPECT_EQ(of(GgufBytes().integer("general.alignment", wrong)),
              "key 'general.alignment' at byte 53: expects a power of two from "
              "8 to 1073741824, but got " +
                  std::to_string(wrong));
}

TEST(Gguf, TensorErrors) {
  const auto of = [](const GgufBytes &made) {
    return openFailure(made.bytes());
  };
  EXPECT_EQ(of(GgufBytes().tensor("t", 0, {1, 1, 1, 1, 1}, 0)),
            "byte 33: tensor 't': expects at most 4 dimensions, but got 5");
  EXPECT_EQ(of(GgufBytes().tensor("t", 0, {0}, 0)),
            "byte 37: tensor 't': expects dimensions of at least 1 with a "
            "product of at most 63 bits, but got 0");
  EXPECT_EQ(of(GgufBytes().tensor("t", 0, {1ull << 62, 2}, 0)),
            "byte 45: tensor 't': expects dimensions of at least 1 with a "
            "product of at most 63 bits, but got 2");
  EXPECT_EQ(of(GgufBytes().tensor("t", 0, {1ull << 62}, 0)),
            "byte 45: tensor 't': expects a size in bytes of at most 63 bits");
  EXPECT_EQ(of(GgufBytes().tensor("t", 4, {32}, 0)),
            "byte 45: tensor 't': expects a known type, but got number 4");
  EXPECT_EQ(of(GgufBytes().tensor("t", 2, {33}, 0)),
            "byte 45: tensor 't': expects rows of a multiple of 32 elements "
            "for type Q4_0, but got 33");
  EXPECT_EQ(of(GgufBytes().tensor("t", 0, {8}, 1ull << 63)),
            "byte 49: tensor 't': expects 32 bytes at offset "
            "9223372036854775808, but the file has 64 bytes|the file is "
            "truncated or damaged: copy it again");
  EXPECT_EQ(of(GgufBytes().tensor("t", 0, {8}, 0)),
            "tensor 't': expects bytes 64 to 96, but the file has 64 bytes|the "
            "file is truncated: copy it again");
  GgufBytes two;
  two.data = std::string(64, '\0');
  two.tensor("a", 0, {8}, 0).tensor("b", 0, {1}, 4);
  EXPECT_EQ(of(two), "tensor 'b': expects an offset that is a multiple of 32, "
                     "but got 4");
  two = GgufBytes();
  two.data = std::string(64, '\0');
  two.tensor("a", 0, {16}, 0).tensor("b", 0, {1}, 32);
  EXPECT_EQ(of(two), "tensor 'b' at byte 128 overlaps 'a', which ends at byte "
                     "160");
  two = GgufBytes();
  two.data = std::string(64, '\0');
  two.tensor("a", 0, {8}, 0).tensor("a", 0, {8}, 32);
  EXPECT_EQ(of(two), "expects each tensor once, but got 'a' twice");
}

/// Every file that ends early is refused, and nothing crashes.
TEST(Gguf, EveryTruncation) {
  GgufBytes made;
  made.string("a", "text")
      .value(
          "b", 9,
          GgufBytes::array(8, 2, GgufBytes::text("x") + GgufBytes::text("")));
  made.filled("w", 8, {32, 2}, std::string(68, '\0'));
  const std::string bytes = made.bytes();
  ASSERT_TRUE(parse(bytes));
  const size_t end = bytes.size() - 28; // the padding behind the last tensor
  for (size_t size = 0; size < end; ++size)
    EXPECT_FALSE(parse(bytes.substr(0, size))) << size;
  EXPECT_TRUE(parse(bytes.substr(0, end)));
}

TEST(Gguf, TypesThatAreNotRead) {
  GgufBytes made;
  made.filled("t", 10, {256}, std::string(84, '\0'));
  const std::string bytes = made.bytes();
  auto file = parse(bytes);
  ASSERT_TRUE(file);
  float out[256];
  EXPECT_EQ(errorOf(file->readFloats(*file->find("t"), 0, 256, out)),
            "3|m.gguf: tensor 't': expects type F32, F16, Q4_0, Q4_1, Q5_0, "
            "Q5_1, Q8_0, Q4_K, Q5_K, Q6_K, BF16, but got Q2_K");
}

//===----------------------------------------------------------------------===//
// The vocabulary
//===----------------------------------------------------------------------===//

GgufBytes vocabulary() {
  const auto texts = [](std::initializer_list<const char *> all) {
    std::string elements;
    for (const char *text : all)
      elements += GgufBytes::text(text);
    return GgufBytes::array(8, all.size(), elements);
  };
  GgufBytes made;
  made.string("tokenizer.ggml.model", "gpt2");
  made.string("tokenizer.ggml.pre", "smollm");
  made.value("tokenizer.ggml.tokens", 9, texts({"a", "b", "ab"}));
  made.value("tokenizer.ggml.token_type", 9,
             GgufBytes::array(5, 3,
                              GgufBytes::raw<int32_t>(1) +
                                  GgufBytes::raw<int32_t>(3) +
                                  GgufBytes::raw<int32_t>(1)));
  made.value("tokenizer.ggml.merges", 9, texts({"a b"}));
  made.value("tokenizer.ggml.precompiled_charsmap", 9,
             GgufBytes::array(0, 2, std::string("\xff\x01")));
  made.value("tokenizer.ggml.add_bos_token", 7, std::string(1, '\0'));
  made.string("tokenizer.chat_template", "{{ messages }}");
  return made;
}

TEST(GgufVocabulary, Fields) {
  const std::string bytes =
      vocabulary().integer("tokenizer.ggml.eos_token_id", 2).bytes();
  auto file = parse(bytes);
  ASSERT_TRUE(file);
  auto words = readVocabulary(*file);
  ASSERT_TRUE(words) << errorOf(words);
  ASSERT_TRUE(*words);
  EXPECT_EQ((*words)->model, "gpt2");
  EXPECT_EQ((*words)->pre, "smollm");
  EXPECT_EQ((*words)->tokens, (std::vector<std::string>{"a", "b", "ab"}));
  EXPECT_EQ((*words)->types, (std::vector<int64_t>{1, 3, 1}));
  EXPECT_EQ((*words)->merges, std::vector<std::string>{"a b"});
  EXPECT_TRUE((*words)->scores.empty());
  EXPECT_EQ((*words)->eos, 2);
  EXPECT_FALSE((*words)->bos);
  EXPECT_EQ((*words)->addBos, false);
  EXPECT_FALSE((*words)->addEos);
  EXPECT_EQ((*words)->charsmap, "\xff\x01");
  EXPECT_EQ((*words)->chatTemplate, "{{ messages }}");
  const std::string none = GgufBytes().bytes();
  EXPECT_FALSE(readVocabulary(*parse(none))->has_value());
}

TEST(GgufVocabulary, Errors) {
  std::string bytes =
      vocabulary().integer("tokenizer.ggml.eos_token_id", 3).bytes();
  EXPECT_NE(errorOf(readVocabulary(*parse(bytes)))
                .find("key 'tokenizer.ggml.eos_token_id' at byte 500: expects "
                      "a token from 0 to 2, but got 3"),
            std::string::npos)
      << errorOf(readVocabulary(*parse(bytes)));
  bytes = vocabulary()
              .value("tokenizer.ggml.scores", 9,
                     GgufBytes::array(6, 1, GgufBytes::raw(0.0f)))
              .bytes();
  EXPECT_NE(errorOf(readVocabulary(*parse(bytes)))
                .find("expects an element for each of 3 tokens, but got 1"),
            std::string::npos);
}

} // namespace
