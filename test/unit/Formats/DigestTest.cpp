//===- DigestTest.cpp - XXH3 digests --------------------------------------===//

#include "weft/Formats/Digest.h"

#include "../Base/TestSupport.h"

using namespace weft;

TEST(Digest, KnownValues) {
  // Published test vectors of XXH3 with seed 0.
  EXPECT_EQ(hex64(digest64("")), "2d06800538d394c2");
  EXPECT_EQ(digest128(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hex64(0x0123456789abcdefu), "0123456789abcdef");
}

TEST(Digest, StreamingEqualsOneShotForAnyCut) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += static_cast<char>(i * 31 + i / 256);
  for (size_t length : {0, 1, 17, 240, 241, 1024, 5000})
    for (size_t cut : {size_t(1), size_t(7), size_t(256), size_t(4096)}) {
      Digest digest;
      for (size_t at = 0; at < length; at += cut)
        digest.update(text.data() + at, std::min(cut, length - at));
      EXPECT_EQ(digest.value128(), digest128(text.data(), length)) << length;
      EXPECT_EQ(digest.value64(), digest64(text.data(), length)) << length;
    }
}

TEST(Digest, Files) {
  TempDir dir;
  auto digest = digestFile(dir.write("a", "hello"));
  ASSERT_TRUE(digest);
  EXPECT_EQ(digest->blocks, std::vector<std::string>{digest128("hello")});
  EXPECT_EQ(digest->xxh3, digest128(digest128("hello")));
  EXPECT_EQ(digest->bytes, 5);
  auto empty = digestFile(dir.write("b", ""));
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->blocks.empty());
  EXPECT_EQ(empty->xxh3, digest128(""));
  EXPECT_EQ(errorOf(digestFile(dir.file("c"))),
            "3|" + dir.file("c") + ": cannot open: no such file or directory");
}

TEST(Digest, BlocksDoNotDependOnTheCuts) {
  EXPECT_EQ(countBlocks(0), 0);
  EXPECT_EQ(countBlocks(1), 1);
  EXPECT_EQ(countBlocks(digestBlockBytes), 1);
  EXPECT_EQ(countBlocks(digestBlockBytes + 1), 2);
  EXPECT_EQ(countBlocks(INT64_MAX), int64_t(1) << 39);
  std::string text(size_t(2 * digestBlockBytes + 5), 'x');
  for (size_t i = 0; i < text.size(); i += 997)
    text[i] = char(i);
  const std::string_view all = text;
  std::vector<std::string> blocks = {
      digest128(all.substr(0, digestBlockBytes)),
      digest128(all.substr(digestBlockBytes, digestBlockBytes)),
      digest128(all.substr(2 * digestBlockBytes))};
  for (size_t cut : {size_t(999983), size_t(digestBlockBytes), text.size()}) {
    BlockDigest digest;
    for (size_t at = 0; at < text.size(); at += cut)
      digest.update(text.data() + at, int64_t(std::min(cut, text.size() - at)));
    FileDigest result = digest.finish();
    EXPECT_EQ(result.bytes, int64_t(text.size()));
    EXPECT_EQ(result.blocks, blocks);
    EXPECT_EQ(result.xxh3, digest128(blocks[0] + blocks[1] + blocks[2]));
  }
  text.resize(size_t(digestBlockBytes));
  EXPECT_EQ(digestBytes(text).blocks, std::vector<std::string>{blocks[0]})
      << "a whole last block";
}
