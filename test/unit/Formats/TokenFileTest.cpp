//===- TokenFileTest.cpp - Token files ------------------------------------===//

#include "weft/Formats/TokenFile.h"

#include "TestSupport.h"

#include <cstring>
#include <vector>

using namespace weft;

template <typename T> static std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}
static std::string header(int32_t magic, int32_t version, int32_t count) {
  std::vector<int32_t> words(256);
  words[0] = magic;
  words[1] = version;
  words[2] = count;
  return bytesOf(words);
}
static std::vector<int32_t> readAll(TokenFile &file) {
  std::vector<int32_t> tokens(static_cast<size_t>(file.size()));
  EXPECT_EQ(errorOf(file.read(0, file.size(), tokens.data())), "ok");
  return tokens;
}

class TokenFileTest : public ::testing::Test {
protected:
  /// Writes `bytes` as `name` and opens it.
  Expected<TokenFile> open(const std::string &name, const std::string &bytes,
                           TokenFormat format = TokenFormat::Auto) {
    return TokenFile::open(dir.write(name, bytes), format);
  }
  /// The error without the folder in front.
  std::string failure(const std::string &name, const std::string &bytes,
                      TokenFormat format = TokenFormat::Auto) {
    std::string text = errorOf(open(name, bytes, format));
    size_t at = text.find(dir.path() + "/");
    return at == text.npos ? text : text.erase(at, dir.path().size() + 1);
  }
  TempDir dir;
};

TEST_F(TokenFileTest, Text) {
  auto file = open("a.txt", "a\xff\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->description(), "text");
  EXPECT_EQ(readAll(*file), (std::vector<int32_t>{97, 255, 10}));
  // Told to be text, even a .bin is.
  EXPECT_TRUE(open("a.bin", "abc", TokenFormat::Text));
}

TEST_F(TokenFileTest, LlmcU16) {
  auto bytes = header(20240520, 1, 3) + bytesOf<uint16_t>({1, 50256, 65535});
  auto file = open("a.bin", bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->description(), "llm.c u16");
  EXPECT_EQ(file->width(), 2);
  EXPECT_EQ(readAll(*file), (std::vector<int32_t>{1, 50256, 65535}));
  EXPECT_TRUE(open("a.bin", bytes, TokenFormat::U16));
}

TEST_F(TokenFileTest, LlmcU32) {
  auto file =
      open("a.bin", header(20240801, 7, 2) + bytesOf<uint32_t>({128000, 3}));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->description(), "llm.c u32");
  EXPECT_EQ(readAll(*file), (std::vector<int32_t>{128000, 3}));
}

TEST_F(TokenFileTest, Headerless) {
  auto u16 = open("a.bin", bytesOf<uint16_t>({7, 50256}), TokenFormat::U16);
  ASSERT_TRUE(u16);
  EXPECT_EQ(u16->description(), "u16");
  EXPECT_EQ(readAll(*u16), (std::vector<int32_t>{7, 50256}));
  auto u32 = open("a.bin", bytesOf<uint32_t>({7, 128255}), TokenFormat::U32);
  ASSERT_TRUE(u32);
  EXPECT_EQ(u32->description(), "u32");
  EXPECT_EQ(readAll(*u32), (std::vector<int32_t>{7, 128255}));
}

TEST_F(TokenFileTest, FileErrors) {
  EXPECT_EQ(errorOf(TokenFile::open(dir.file("no"), TokenFormat::Auto)),
            "3|" + dir.file("no") + ": cannot open: no such file or directory");
  EXPECT_EQ(errorOf(TokenFile::open(dir.path(), TokenFormat::Auto)),
            "3|" + dir.path() + ": expects a file, but got a directory");
  EXPECT_EQ(errorOf(TokenFile::open("/dev/null", TokenFormat::Auto)),
            "3|/dev/null: expects a regular file, but got a device|write its "
            "bytes to a file first: they are read more than once");
  EXPECT_EQ(failure("a.txt", ""),
            "3|a.txt: expects tokens, but the file is empty");
}

TEST_F(TokenFileTest, WidthErrors) {
  EXPECT_EQ(
      failure("a.bin", "abcd"),
      "3|a.bin: cannot tell the width of the tokens: no llm.c header|pass "
      "--data-format=u16 (nanoGPT's GPT-2 files), u32 or text");
  EXPECT_EQ(failure("a.bin", "abc", TokenFormat::U16),
            "3|a.bin: expects a multiple of 2 bytes, but got 3 bytes");
  EXPECT_EQ(failure("a.bin", "abcdef", TokenFormat::U32),
            "3|a.bin: expects a multiple of 4 bytes, but got 6 bytes");
  EXPECT_EQ(errorOf(parseTokenFormat("u8")),
            "2|expects auto, text, u16 or u32, but got 'u8'");
  EXPECT_EQ(*parseTokenFormat("u32"), TokenFormat::U32);
  EXPECT_EQ(*parseTokenFormat("u16"), TokenFormat::U16);
  EXPECT_EQ(*parseTokenFormat("text"), TokenFormat::Text);
  EXPECT_EQ(*parseTokenFormat("auto"), TokenFormat::Auto);
}

TEST_F(TokenFileTest, HeaderErrors) {
  std::string tokens = bytesOf<uint16_t>({1, 2});
  EXPECT_EQ(failure("a.bin", header(20240520, 1, 3) + tokens),
            "3|a.bin: the llm.c header announces 3 tokens, 1030 bytes (1.01 "
            "KiB), but "
            "the file has 1028 bytes (1.00 KiB)");
  EXPECT_EQ(failure("a.bin", header(20240520, 1, -1) + tokens),
            "3|a.bin: the llm.c header announces 4294967295 tokens, 8589935614 "
            "bytes (8.00 GiB), but the file has 1028 bytes (1.00 KiB)");
  EXPECT_EQ(failure("a.bin", header(20240520, 2, 2) + tokens),
            "3|a.bin: expects version 1 in the llm.c header, but got 2");
  EXPECT_EQ(failure("a.bin", header(20240801, 1, 1) + tokens),
            "3|a.bin: expects version 7 in the llm.c header, but got 1");
  EXPECT_EQ(failure("a.bin", header(20240520, 1, 0)),
            "3|a.bin: expects tokens, but the llm.c header announces none");
  EXPECT_EQ(failure("a.bin", header(20240520, 1, 2).substr(0, 100)),
            "3|a.bin: expects an llm.c header of 1024 bytes, but got a file of "
            "100 bytes");
  EXPECT_EQ(
      failure("a.bin", header(20240522, 1, 2) + tokens),
      "3|a.bin: expects training tokens, but got an llm.c evaluation file "
      "(magic 20240522)");
  EXPECT_EQ(
      failure("a.bin", header(20240520, 1, 2) + tokens, TokenFormat::U32),
      "3|a.bin: the llm.c header says u16 tokens, but the format given is "
      "u32|leave --data-format out");
  EXPECT_EQ(
      failure("a.bin", header(20240801, 7, 1) + tokens, TokenFormat::U16),
      "3|a.bin: the llm.c header says u32 tokens, but the format given is "
      "u16|leave --data-format out");
}

TEST_F(TokenFileTest, ReadChecksItsRange) {
  auto file = open("a.txt", "abc");
  ASSERT_TRUE(file);
  int32_t out[3];
  EXPECT_EQ(errorOf(file->read(1, 2, out)), "ok");
  EXPECT_EQ(out[0], 'b');
  EXPECT_EQ(errorOf(file->read(3, 0, out)), "ok");
  EXPECT_EQ(errorOf(file->read(2, 2, out)),
            "3|" + file->path() +
                ": expects token positions below 3, but got [2, 2 + 2)");
  EXPECT_NE(errorOf(file->read(-1, 1, out)), "ok");
  EXPECT_NE(errorOf(file->read(1, INT64_MAX, out)), "ok");
}

TEST_F(TokenFileTest, VocabularyCheckNamesTheFirstOffender) {
  auto file =
      open("a.bin", bytesOf<uint16_t>({5, 300, 299, 301}), TokenFormat::U16);
  ASSERT_TRUE(file);
  EXPECT_EQ(errorOf(file->check(302)), "ok");
  EXPECT_EQ(
      errorOf(file->check(300)),
      "3|" + file->path() +
          ": token 300 at position 1 is not below the vocabulary size 300");
  EXPECT_EQ(errorOf(file->check(65536)), "ok");
  auto text = open("a.txt", "abc");
  EXPECT_EQ(errorOf(text->check(256)), "ok");
  EXPECT_NE(errorOf(text->check(99)), "ok");
}

TEST_F(TokenFileTest, TokensAbove31BitsAreErrors) {
  auto file =
      open("a.bin", bytesOf<uint32_t>({1, 0x80000000u}), TokenFormat::U32);
  ASSERT_TRUE(file);
  int32_t out[2];
  EXPECT_EQ(errorOf(file->read(0, 2, out)),
            "3|" + file->path() +
                ": token 2147483648 at position 1 is above 2147483647");
  EXPECT_EQ(errorOf(file->check(0x80000000)),
            "3|" + file->path() +
                ": token 2147483648 at position 1 is above 2147483647");
}

TEST_F(TokenFileTest, WhatChangesAfterTheCheckIsFound) {
  std::string path =
      dir.write("a.bin", bytesOf<uint16_t>(std::vector<uint16_t>(90000, 7)));
  auto file = TokenFile::open(path, TokenFormat::U16);
  ASSERT_TRUE(file);
  ASSERT_EQ(errorOf(file->check(300)), "ok");
  // The same file, written in place.
  std::FILE *stream = std::fopen(path.c_str(), "r+b");
  std::fseek(stream, 2 * 5000, SEEK_SET);
  std::fputs("\xff\xff", stream);
  std::fclose(stream);
  std::vector<int32_t> out(10000);
  EXPECT_EQ(errorOf(file->read(0, 10000, out.data())),
            "3|" + path +
                ": token 65535 at position 5000 is not below the vocabulary "
                "size 300");
  ASSERT_EQ(::truncate(path.c_str(), 80000), 0);
  EXPECT_EQ(errorOf(file->read(30000, 10000, out.data())), "ok");
  EXPECT_EQ(errorOf(file->read(60000, 10000, out.data())),
            "3|" + path +
                ": expects 180000 bytes, but the file now ends before byte "
                "120000|it was cut while it was in use");
  EXPECT_EQ(errorOf(file->read(35000, 10000, out.data())),
            "3|" + path +
                ": expects 180000 bytes, but the file now ends before byte "
                "80000|it was cut while it was in use");
}

TEST_F(TokenFileTest, AFileThatIsReplacedStaysTheOldOne) {
  auto file = open("a.txt", "old text");
  ASSERT_TRUE(file);
  std::filesystem::rename(dir.write("b.txt", "new"), dir.file("a.txt"));
  EXPECT_EQ(readAll(*file).size(), 8u);
  file->willNeed({{5, 8}, {0, 2}});
}

TEST_F(TokenFileTest, AnyOrderOfReadsGivesTheSameTokens) {
  std::vector<uint16_t> values(300000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = uint16_t(i * 40503u >> 3);
  auto file = open("a.bin", bytesOf(values), TokenFormat::U16);
  ASSERT_TRUE(file);
  std::vector<int32_t> out(values.size());
  uint64_t random = 1;
  for (int64_t i = 0, begin = 0; i < 2000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    // Half of the reads go on where the last one ended.
    const int64_t length = int64_t(random >> 40) % 3000;
    if (random >> 63 || begin + length > file->size())
      begin = int64_t(random >> 20) % (file->size() - length);
    ASSERT_EQ(errorOf(file->read(begin, length, out.data())), "ok");
    for (int64_t k = 0; k < length; ++k)
      ASSERT_EQ(out[k], values[begin + k]) << i;
    begin += length;
  }
}
