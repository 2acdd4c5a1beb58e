//===- TokenFileTest.cpp - Token files ------------------------------------===//

#include "weft/Formats/TokenFile.h"

#include "../Base/TestSupport.h"

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

/// ASCII text in units of `width` bytes.
static std::string widened(const std::string &text, size_t width) {
  std::string wide;
  for (char c : text)
    wide += c + std::string(width - 1, '\0');
  return wide;
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

TEST_F(TokenFileTest, AByteOrderMarkIsLeftOut) {
  auto file = open("a.txt", "\xef\xbb\xbf"
                            "abc");
  ASSERT_TRUE(file);
  EXPECT_EQ(readAll(*file), (std::vector<int32_t>{97, 98, 99}));
  EXPECT_EQ(
      *file->doubts(256),
      std::vector<std::string>{
          file->path() + ": begins with a byte-order mark, which is left out"});
  EXPECT_EQ(*file->digest(), *open("b.txt", "abc")->digest());
  // As they are means as they are.
  auto bytes = open("a.txt",
                    "\xef\xbb\xbf"
                    "a",
                    TokenFormat::Text);
  EXPECT_EQ(readAll(*bytes), (std::vector<int32_t>{239, 187, 191, 97}));
  EXPECT_TRUE(bytes->doubts(256)->empty());
  EXPECT_EQ(failure("a.txt", "\xef\xbb\xbf"),
            "3|a.txt: expects tokens, but the file has only a byte-order mark");
}

TEST_F(TokenFileTest, StructuredTextIsRefused) {
  const std::string lines = "{\"text\": \"a\"}\n{\"text\": \"b\"}\n";
  const std::string path = dir.file("a");
  EXPECT_EQ(failure("a", lines),
            "3|a: expects text or tokens, but got JSON lines|python3 -c "
            "\"import json,sys; [print(json.loads(line)['text']) for line in "
            "sys.stdin if line.strip()]\" < " +
                path + " > " + path +
                ".txt; --data-format=text reads its bytes as they are");
  EXPECT_TRUE(open("a", lines, TokenFormat::Text));
  EXPECT_EQ(failure("a", std::string("\xff\xfe"
                                     "a\0",
                                     4)),
            "3|a: expects text or tokens, but got UTF-16 text|iconv -f UTF-16 "
            "-t UTF-8 " +
                path + " > " + path +
                ".txt; --data-format=text reads its bytes as they are");
  EXPECT_EQ(failure("a.csv", "text\nb\n").substr(0, 55),
            "3|a.csv: expects text or tokens, but got a table (CSV)|");
  EXPECT_EQ(failure("a.json", "[]").substr(0, 55),
            "3|a.json: expects text or tokens, but got a JSON file|p");
  EXPECT_EQ(failure("b", widened("a wide UTF-32 text", 4)).substr(0, 50),
            "3|b: expects text or tokens, but got UTF-32 text|i");
  // Small tokens of 16 bits look like UTF-16.
  EXPECT_EQ(failure("a.bin", widened("tokens of some kind", 2)).substr(0, 40),
            "3|a.bin: cannot tell the width of the to");
}

TEST_F(TokenFileTest, ArraysAreNoTokens) {
  const std::string array = std::string("\x93NUMPY\1\0v\0", 10) +
                            "{'descr': '<u2', 'fortran_order': False}";
  const std::string path = dir.file("a.npy");
  const std::string hint = "python3 -c \"import numpy,sys; numpy.load(sys.argv"
                           "[1]).astype('uint16').tofile(sys.argv[2])\" " +
                           path + " " + path + ".bin, then --data-format=u16";
  EXPECT_EQ(failure("a.npy", array),
            "3|a.npy: expects text or tokens, but got a NumPy array|" + hint +
                "; --data-format=text reads its bytes as they are");
  EXPECT_EQ(failure("a.npy", array, TokenFormat::U16),
            "3|a.npy: expects u16 tokens, but got a NumPy array|" + hint);
  const std::string wide = failure(
      "a.npy", std::string("\x93NUMPY\1\0v\0", 10) + "{'descr': '<i8'}   ",
      TokenFormat::U32);
  EXPECT_NE(wide.find("expects u32 tokens, but got a NumPy array"), wide.npos);
  EXPECT_NE(wide.find("astype('uint32')"), wide.npos) << wide;
  const std::string quoted = failure("it's $1.npy", array);
  EXPECT_NE(quoted.find("\" '" + dir.file("it'\\''s $1.npy' '")), quoted.npos)
      << quoted;
  EXPECT_EQ(failure("a", std::string("\x89HDF\r\n\x1a\n", 8), TokenFormat::U16),
            "3|a: expects u16 tokens, but got an HDF5 file|write only its "
            "tokens, ARRAY.astype('uint16').tofile('tokens.bin'), and give "
            "--data-format=u16");
  EXPECT_EQ(failure("a.bin", std::string(256, 'a'), TokenFormat::U16),
            "3|a.bin: expects u16 tokens, but got text|leave --data-format out "
            "to read it as text");
  // A few tokens may be letters, and two of them a pickle.
  EXPECT_TRUE(open("a.bin", std::string(254, 'a'), TokenFormat::U16));
  EXPECT_TRUE(open("a.bin", std::string("\x80\2}q", 4), TokenFormat::U16));
}

TEST_F(TokenFileTest, TokensOfAnotherWidthAreDoubted) {
  std::vector<uint32_t> tokens(64);
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = uint32_t(i * 7);
  auto doubts = [&](const std::string &bytes, TokenFormat format,
                    int64_t vocabulary) {
    auto file = open("a.bin", bytes, format);
    EXPECT_TRUE(file);
    EXPECT_EQ(errorOf(file->check(vocabulary)), "ok");
    auto texts = file->doubts(vocabulary);
    EXPECT_TRUE(texts);
    return texts->empty() ? "" : texts->front().substr(file->path().size());
  };
  const std::string halved =
      ": every second token is 0, as in a file of numbers of ";
  EXPECT_EQ(doubts(bytesOf(tokens), TokenFormat::U16, 50257),
            halved + "32 bits; --data-format=u32 reads those");
  EXPECT_EQ(doubts(bytesOf(tokens), TokenFormat::U32, 50257), "");
  std::vector<uint64_t> wide(tokens.begin(), tokens.end());
  EXPECT_EQ(doubts(bytesOf(wide), TokenFormat::U32, 50257),
            halved + "64 bits; write its tokens as u32 first");
  EXPECT_EQ(doubts(bytesOf(wide), TokenFormat::U16, 50257),
            ": three of four tokens are 0, as in a file of numbers of 64 bits; "
            "write its tokens as u16 or u32");
  std::vector<uint16_t> narrow(tokens.begin(), tokens.end());
  EXPECT_EQ(doubts(bytesOf(narrow), TokenFormat::U16, 65536), "");
  EXPECT_EQ(doubts(bytesOf(narrow), TokenFormat::U16, 65537),
            ": tokens of 16 bits are below 65536, but the model has 65537 "
            "tokens; write tokens of such a vocabulary as u32");
  EXPECT_EQ(doubts(header(20240520, 1, 64) + bytesOf(narrow), TokenFormat::Auto,
                   128256)
                .substr(0, 22),
            ": tokens of 16 bits ar");
  // All of one kind, or too few to tell.
  EXPECT_EQ(doubts(std::string(64, '\0'), TokenFormat::U16, 50257), "");
  EXPECT_EQ(doubts(std::string("\1\0\0\0", 4), TokenFormat::U16, 50257), "");
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
