//===- TokenizerTest.cpp - Ids of text and text of ids --------------------===//

#include "SmallTokenizers.h"

#include <thread>

using namespace weft;

TEST(Tokenizer, MergesByRank) {
  Tokenizer tokenizer = parsed(fallbackJson(kMarkedSpaces));
  EXPECT_EQ(encoded(tokenizer, "ab"), Ids({260}));
  EXPECT_EQ(encoded(tokenizer, " ab a"), Ids({262, 261}));
  EXPECT_EQ(encoded(tokenizer, "aab"), Ids({257, 260}));
  EXPECT_EQ(encoded(tokenizer, ""), Ids());
  EXPECT_EQ(tokenizer.vocabularySize(), 264);
  EXPECT_EQ(tokenizer.modelName(), "BPE");
  EXPECT_EQ(tokenizer.tokenText(262), "▁ab");
  EXPECT_EQ(tokenizer.findToken("aa"), 263);
}

TEST(Tokenizer, FallsBackToBytes) {
  Tokenizer tokenizer = parsed(fallbackJson(kMarkedSpaces));
  EXPECT_EQ(encoded(tokenizer, "é"), Ids({0xC3, 0xA9}));
  Expected<std::string> text = tokenizer.decode({0xC3, 0xA9, 262, 10});
  EXPECT_EQ(errorOf(text), "ok");
  EXPECT_EQ(*text, "é ab\n");
  EXPECT_EQ(*tokenizer.decode({0xC3, 262}), "\uFFFD ab");
}

/// Words of any length have the ids of the longest merges: short words are
/// merged by a search, long ones with a queue.
TEST(Tokenizer, MergesLongWords) {
  Tokenizer tokenizer = parsed(fallbackJson());
  for (size_t length : {1, 2, 7, 47, 48, 49, 50, 1001, 200000}) {
    Ids expected(length / 2, 263);
    if (length % 2)
      expected.push_back(257);
    EXPECT_EQ(encoded(tokenizer, std::string(length, 'a')), expected);
  }
}

TEST(Tokenizer, RepairsMalformedText) {
  Tokenizer tokenizer = parsed(fallbackJson());
  EncodeLosses losses;
  const Ids fffd = {0xEF, 0xBF, 0xBD};
  for (const char *text : {"\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98"}) {
    losses = {};
    Expected<Ids> ids = tokenizer.encode(text, {}, &losses);
    EXPECT_EQ(*ids, fffd);
    EXPECT_EQ(losses.malformed, 1);
  }
  // A surrogate is three malformed parts.
  losses = {};
  EXPECT_EQ(tokenizer.encode("\xED\xA0\x80", {}, &losses)->size(), 9u);
  EXPECT_EQ(losses.malformed, 3);
}

static const std::string kSpecials = R"(
  "added_tokens": [
    {"id": 264, "content": "<s>", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": true},
    {"id": 265, "content": "<s>x", "single_word": false, "lstrip": true,
     "rstrip": false, "normalized": false, "special": false}],
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [264],
                                           "tokens": ["<s>"]}}},)";

TEST(Tokenizer, FindsSpecialTokens) {
  Tokenizer tokenizer = parsed(fallbackJson(kSpecials + kMarkedSpaces));
  EXPECT_EQ(encoded(tokenizer, "a<s>b"), Ids({264, 257, 264, 258}));
  EXPECT_EQ(tokenizer.frame().before, Ids({264}));
  EXPECT_EQ(tokenizer.frame().behind, Ids());
  // The longest token counts, and the space before it is its own.
  EXPECT_EQ(encoded(tokenizer, "a <s>xb", {false, true}), Ids({257, 265, 258}));
  EXPECT_EQ(encoded(tokenizer, "<s>", {false, false}), Ids({'<', 's', '>'}));
  EXPECT_TRUE(tokenizer.isSpecial(264));
  EXPECT_FALSE(tokenizer.isSpecial(265));
  EXPECT_EQ(*tokenizer.decode({264, 260}), "ab");
  EXPECT_EQ(*tokenizer.decode({264, 260}, /*skipsSpecialTokens=*/false),
            "<s>ab");
}

TEST(Tokenizer, RefusesUnknownIds) {
  Tokenizer tokenizer = parsed(fallbackJson());
  EXPECT_EQ(errorOf(tokenizer.decode({257, 264})),
            "3|expects token numbers from 0 to 263, but got 264 at position "
            "1");
  EXPECT_EQ(errorOf(tokenizer.decode({-1})),
            "3|expects token numbers from 0 to 263, but got -1 at position 0");
}

static std::string streamed(const Tokenizer &tokenizer, const Ids &ids,
                            std::string *steps = nullptr) {
  StreamDecoder decoder(tokenizer);
  std::string all;
  for (int32_t id : ids) {
    Expected<std::string> text = decoder.add(id);
    EXPECT_EQ(errorOf(text), "ok");
    all += *text;
    if (steps)
      *steps += *text + "|";
  }
  return all + *decoder.finish();
}

TEST(StreamDecoder, WaitsForWholeCharacters) {
  Tokenizer tokenizer = parsed(fallbackJson(kMarkedSpaces));
  std::string steps;
  const Ids ids = encoded(tokenizer, "a é 😀 ab");
  EXPECT_EQ(streamed(tokenizer, ids, &steps), "a é 😀 ab");
  EXPECT_EQ(steps, "a| ||é| ||||😀| ab|");
  EXPECT_EQ(streamed(tokenizer, {257, 0xF0, 0x9F}), "a\uFFFD\uFFFD");
}

TEST(StreamDecoder, KeepsAnErrorOut) {
  Tokenizer tokenizer = parsed(fallbackJson());
  StreamDecoder decoder(tokenizer);
  EXPECT_FALSE(decoder.add(99999).ok());
  EXPECT_EQ(*decoder.add(257), "a");
}

static const std::string kByteLevel = R"({
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
                    "trim_offsets": true, "use_regex": true},
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "vocab": {"a": 0, "Ġ": 1, "Ã": 2, "©": 3, "Ġa": 4,
            "Ã©": 5}, "merges": ["Ġ a", "Ã ©"]}})";

TEST(Tokenizer, SpellsBytes) {
  Tokenizer tokenizer = parsed(kByteLevel);
  EXPECT_EQ(encoded(tokenizer, "a a  aé"), Ids({0, 4, 1, 4, 5}));
  EXPECT_EQ(streamed(tokenizer, {4, 2, 3, 2}), " aé\uFFFD");
  EncodeLosses losses;
  EXPECT_EQ(tokenizer.encode("ab", {}, &losses)->size(), 1u);
  EXPECT_EQ(losses.unencodable, 1);
}

TEST(Tokenizer, KeepsEveryByte) {
  Tokenizer tokenizer = Tokenizer::ofBytes();
  EncodeLosses losses;
  const std::string text("a\xFF\0\xC3", 4);
  Expected<Ids> ids = tokenizer.encode(text, {}, &losses);
  EXPECT_EQ(errorOf(ids), "ok");
  EXPECT_EQ(*ids, Ids({97, 255, 0, 195}));
  EXPECT_EQ(losses.malformed, 0);
  EXPECT_EQ(*tokenizer.decode(*ids), text);
  EXPECT_EQ(tokenizer.vocabularySize(), 256);
  EXPECT_EQ(tokenizer.findToken("\xFF"), 255);
  StreamDecoder decoder(tokenizer);
  std::string decoded;
  for (const int32_t id : *ids)
    decoded += *decoder.add(id);
  EXPECT_EQ(decoded + *decoder.finish(), text);
}

TEST(Tokenizer, FindsTheMostLikelyTokens) {
  Tokenizer tokenizer = parsed(R"({"model": {"type": "Unigram", "unk_id": 0,
    "vocab": [["<unk>", 0], ["a", -1], ["b", -1], ["ab", -1.5],
              ["aba", -9]]}})");
  EXPECT_EQ(encoded(tokenizer, "aba"), Ids({3, 1}));
  EXPECT_EQ(encoded(tokenizer, "abcda"), Ids({3, 0, 1}));
}

TEST(Tokenizer, HandsIdsOutInParts) {
  Tokenizer tokenizer = parsed(fallbackJson(kMarkedSpaces));
  std::string text;
  for (int i = 0; i < 200000; ++i)
    text += " ab";
  size_t calls = 0, most = 0, all = 0;
  Status status = tokenizer.encode(text, {}, [&](const int32_t *, size_t n) {
    ++calls;
    most = std::max(most, n);
    all += n;
    return Status::success();
  });
  EXPECT_EQ(errorOf(status), "ok");
  EXPECT_EQ(all, 200000u);
}

TEST(Tokenizer, ServesSeveralThreads) {
  Tokenizer tokenizer = parsed(fallbackJson(kMarkedSpaces));
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += " ab" + std::string(size_t(i % 70), 'a') + "é";
  const Ids expected = encoded(tokenizer, text);
  std::vector<std::thread> threads;
  std::vector<Ids> found(4);
  for (Ids &ids : found)
    threads.emplace_back([&] { ids = encoded(tokenizer, text); });
  for (std::thread &thread : threads)
    thread.join();
  for (const Ids &ids : found)
    EXPECT_EQ(ids, expected);
}
