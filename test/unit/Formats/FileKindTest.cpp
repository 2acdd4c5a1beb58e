//===- FileKindTest.cpp - Files that people hand over by mistake ----------===//

#include "../Base/TestSupport.h"

#include "weft/Formats/FileKind.h"
#include "weft/Formats/ModelWeights.h"
#include "weft/Formats/TokenFile.h"

#include <sys/stat.h>

using namespace weft;

namespace {

const uint8_t *bytesOf(const std::string &text) {
  return reinterpret_cast<const uint8_t *>(text.data());
}

std::string kindOf(const std::string &text) {
  return guessFileKind(bytesOf(text), int64_t(text.size()),
                       int64_t(text.size()))
      .name;
}

const std::string kTorch = std::string("PK\3\4\0\0\0\0", 8) +
                           "archive/data.pkl" + std::string(100, '\0');
const std::string kPickle = std::string("\x80\2}q\0", 5);
const std::string kHeader = std::string("\2\0\0\0\0\0\0\0{}", 10);

TEST(FileKind, FirstBytesTell) {
  EXPECT_EQ(kindOf(kTorch), "a PyTorch file (zip)");
  EXPECT_EQ(kindOf("PK\3\4 docs"), "a zip archive");
  EXPECT_EQ(kindOf(kPickle), "a Python pickle, as old PyTorch files are");
  EXPECT_EQ(kindOf("\x88\xd8\x34\x01"), "a file of tokens");
  EXPECT_EQ(kindOf("\xa1\xd9\x34\x01"), "a file of tokens");
  EXPECT_EQ(kindOf(std::string("GGUF\3\0", 6)), "a GGUF file (llama.cpp)");
  EXPECT_EQ(kindOf("\x93NUMPY\1"), "a NumPy array");
  EXPECT_EQ(kindOf("\x89HDF\r\n"), "an HDF5 file");
  EXPECT_EQ(kindOf("PAR1"), "a Parquet file");
  EXPECT_EQ(kindOf("\x1f\x8b\x08"), "a gzip archive");
  EXPECT_EQ(kindOf("\x28\xb5\x2f\xfd"), "a zstd archive");
  EXPECT_EQ(kindOf("BZh91AY&SY"), "a bzip2 archive");
  EXPECT_EQ(kindOf("\xfd"
                   "7zXZ"),
            "an xz archive");
  EXPECT_EQ(kindOf("7z\xbc\xaf"), "a 7z archive");
  EXPECT_EQ(kindOf(std::string("ARROW1\0\0", 8)), "an Arrow file");
  EXPECT_EQ(kindOf("SQLite format 3"), "an SQLite database");
  EXPECT_EQ(kindOf("%PDF-1.7"), "a PDF file");
  EXPECT_EQ(kindOf("\x7f"
                   "ELF"),
            "a program");
  EXPECT_EQ(kindOf("version https://git-lfs.github.com/spec/v1\n"),
            "a Git LFS pointer, not the file itself");
  EXPECT_EQ(kindOf("<!DOCTYPE html>"), "an HTML page");
  EXPECT_EQ(kindOf(kHeader), "a safetensors file");
}

TEST(FileKind, TextIsWhatReadsAsText) {
  EXPECT_EQ(kindOf("First Citizen:\n\tBefore\r\n"), "text");
  EXPECT_EQ(kindOf("caf\xc3\xa9"), "text");
  // The head ends inside a letter: more follows.
  EXPECT_EQ(kindOf(std::string(4095, 'a') + "\xc3\xa9"), "text");
  EXPECT_EQ(kindOf("caf\xc3"), "");
  EXPECT_EQ(kindOf(std::string("a\0b", 3)), "");
  EXPECT_EQ(kindOf(""), "");
}

TEST(FileKind, WeightsSayWhatTheyAre) {
  auto errorFor = [](const std::string &text) {
    return errorOf(SafetensorsFile::open(std::make_unique<MemoryBytes>(
        bytesOf(text), int64_t(text.size()), "m")));
  };
  const std::string hint =
      "|save it as safetensors: safetensors.torch.save_file({k: v.clone()."
      "contiguous() for k, v in torch.load(FILE, weights_only=True).items()}, "
      "'model.safetensors')";
  EXPECT_EQ(errorFor(kTorch),
            "3|m: expects a safetensors file, but got a PyTorch file (zip)" +
                hint);
  EXPECT_EQ(errorFor("version https://git-lfs.github.com/spec/v1\n"),
            "3|m: expects a safetensors file, but got a Git LFS pointer, not "
            "the file itself|`git lfs pull` fetches it");
  EXPECT_EQ(errorFor("To be, or not to be\n"),
            "3|m: expects a safetensors file, but got text");
}

TEST(FileKind, DataIsNotTakenForText) {
  auto errorFor = [](const std::string &text, TokenFormat format) {
    return errorOf(TokenFile::open(
        std::make_unique<MemoryBytes>(bytesOf(text), int64_t(text.size()), "d"),
        format));
  };
  EXPECT_EQ(errorFor(std::string("\x1f\x8b\x08", 3), TokenFormat::Auto),
            "3|d: expects text or tokens, but got a gzip archive|unpack it "
            "first; --data-format=text reads its bytes as they are");
  EXPECT_EQ(
      errorFor(kHeader, TokenFormat::Auto),
      "3|d: expects text or tokens, but got a safetensors file|write only its "
      "tokens, ARRAY.astype('uint16').tofile('tokens.bin'), and give "
      "--data-format=u16; --data-format=text reads its bytes as they are");
  EXPECT_EQ(errorFor(kHeader, TokenFormat::Text), "ok");
  EXPECT_EQ(errorFor("<html>", TokenFormat::Auto), "ok");
}

TEST(FileKind, ALetterMayLieAcrossTheBytesThatAreLookedAt) {
  TempDir dir;
  for (size_t before : {4093, 4094, 4095, 4096}) {
    std::string text(before, 'a');
    for (int i = 0; i < 10; ++i)
      text += "\xF0\x9F\x98\x80";
    EXPECT_STREQ(guessFileKind(dir.write("t", text)).name, "text") << before;
    EXPECT_EQ(errorOf(SafetensorsFile::open(dir.file("t"))).substr(0, 2), "3|");
    EXPECT_NE(errorOf(SafetensorsFile::open(dir.file("t")))
                  .find("expects a safetensors file, but got text"),
              std::string::npos)
        << before;
    auto tokens = TokenFile::open(dir.file("t"), TokenFormat::Auto);
    EXPECT_EQ(errorOf(tokens), "ok") << before;
  }
  // A letter that is cut at the end of the file makes it no text.
  EXPECT_STRNE(guessFileKind(dir.write("t", "abc\xF0\x9F")).name, "text");
}

TEST(FileKind, OnDisk) {
  TempDir dir;
  dir.write("w", kPickle);
  EXPECT_STREQ(guessFileKind(dir.file("w")).name,
               "a Python pickle, as old PyTorch files are");
  EXPECT_FALSE(guessFileKind(dir.file("none")).isKnown());
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(guessFileKind(dir.file("pipe")).isKnown()); // and does not wait
  dir.write("pytorch_model.bin", kTorch);
  EXPECT_NE(errorOf(ModelWeights::open(dir.path()))
                .find("has neither|save them as safetensors"),
            std::string::npos);
}

} // namespace
