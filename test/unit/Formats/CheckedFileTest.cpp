//===- CheckedFileTest.cpp - Reading at positions, with digests -----------===//

#include "weft/Formats/CheckedFile.h"

#include "../Base/TestSupport.h"
#include "weft/Base/Text.h"

#include <cstring>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

namespace {

/// Bytes that differ from block to block.
std::string manyBytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  return bytes;
}

/// Counts the bytes that are read, and calls a hook before a read.
class CountingBytes : public MemoryBytes {
public:
  explicit CountingBytes(const std::string &bytes)
      : MemoryBytes(reinterpret_cast<const uint8_t *>(bytes.data()),
                    static_cast<int64_t>(bytes.size()), "bytes") {}
  Status read(int64_t offset, int64_t bytes, void *out) override {
    total += bytes;
    return MemoryBytes::read(offset, bytes, out);
  }
  int64_t total = 0;
};

} // namespace

TEST(InputFile, OnlyRegularFiles) {
  TempDir dir;
  const std::string hint =
      "|write its bytes to a file first: they are read more than once";
  EXPECT_EQ(errorOf(InputFile::open(dir.path())),
            "3|" + dir.path() + ": expects a file, but got a directory");
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(errorOf(InputFile::open(dir.file("pipe"))),
            "3|" + dir.file("pipe") +
                ": expects a regular file, but got a pipe" + hint);
  EXPECT_EQ(errorOf(InputFile::open("/dev/zero")),
            "3|/dev/zero: expects a regular file, but got a device" + hint);
  EXPECT_EQ(errorOf(InputFile::open(dir.file("no"))),
            "3|" + dir.file("no") + ": cannot open: no such file or directory");
  EXPECT_EQ(errorOf(InputFile::open("-")),
            "3|-: cannot open: no such file or directory" + hint);
  EXPECT_EQ(errorOf(InputFile::open(dir.write("a", "") + "/b")),
            "3|" + dir.file("a/b") + ": cannot open: not a directory");
}

TEST(InputFile, WholeFiles) {
  TempDir dir;
  EXPECT_EQ(*readFile(dir.write("a", "some text")), "some text");
  EXPECT_EQ(*readFile(dir.write("empty", "")), "");
  EXPECT_EQ(errorOf(readFile(dir.file("a"), 8)),
            "3|" + dir.file("a") +
                ": expects at most 8 bytes, but the file has 9 bytes");
}

TEST(InputFile, RangesAndCuts) {
  TempDir dir;
  std::string path = dir.write("a", "0123456789");
  auto file = InputFile::open(path);
  ASSERT_TRUE(file);
  char out[10];
  EXPECT_EQ(errorOf((*file)->read(3, 4, out)), "ok");
  EXPECT_EQ(std::string(out, 4), "3456");
  EXPECT_EQ(errorOf((*file)->read(10, 0, out)), "ok");
  EXPECT_EQ(errorOf((*file)->read(8, 3, out)),
            "3|" + path + ": expects bytes below 10, but got 3 at 8");
  EXPECT_NE(errorOf((*file)->read(-1, 1, out)), "ok");
  EXPECT_NE(errorOf((*file)->read(1, INT64_MAX, out)), "ok");
  (*file)->willNeed(0, 10);
  // Replaced by a rename: still the open one.
  std::filesystem::rename(dir.write("b", "new"), path);
  EXPECT_EQ(errorOf((*file)->read(7, 3, out)), "ok");
  EXPECT_EQ(std::string(out, 3), "789");
  auto cut = InputFile::open(dir.write("c", "0123456789"));
  ASSERT_TRUE(cut);
  ASSERT_EQ(::truncate(dir.file("c").c_str(), 5), 0);
  EXPECT_EQ(errorOf((*cut)->read(0, 5, out)), "ok");
  EXPECT_EQ(errorOf((*cut)->read(3, 4, out)),
            "3|" + dir.file("c") +
                ": expects 10 bytes, but the file now ends before byte 5|it "
                "was cut while it was in use");
}

TEST(ByteWindow, ServesNeighboursWithOneRead) {
  const std::string bytes = manyBytes(1 << 20);
  CountingBytes source(bytes);
  ByteWindow window;
  auto same = [&](int64_t at, int64_t size) {
    auto view = window.view(source, at, size);
    return view.ok() && std::memcmp(*view, bytes.data() + at, size) == 0;
  };
  for (int64_t at = 0; at < int64_t(bytes.size()); at += 64)
    ASSERT_TRUE(same(at, 64));
  EXPECT_EQ(source.total, int64_t(bytes.size()));
  source.total = 0;
  for (int64_t i = 1; i < 100; ++i)
    ASSERT_TRUE(same(i * 7919 % 1000 * 1000, 64));
  EXPECT_LE(source.total, 100 * 64) << "reads apart get what they ask for";
  EXPECT_TRUE(same(5, 900000)) << "more than a window";
  EXPECT_FALSE(window.view(source, int64_t(bytes.size()) - 1, 2).ok());
  EXPECT_FALSE(window.view(source, -1, 1).ok());
}

TEST(ByteWindow, RangesNearEachOtherAreAskedForAtOnce) {
  struct Asked : MemoryBytes {
    Asked() : MemoryBytes(nullptr, 0, "asked") {}
    void willNeed(int64_t offset, int64_t bytes) override {
      ranges.push_back({offset, bytes});
    }
    ByteRanges ranges;
  } source;
  const int64_t far = 10 << 20;
  askFor(source, {{far, far + 10}, {20, 30}, {0, 10}, {5, 15}, {far, far + 4}});
  EXPECT_EQ(source.ranges, (ByteRanges{{0, 30}, {far, 10}}));
}

class CheckedFileTest : public ::testing::Test {
protected:
  static constexpr int64_t kBytes = 2 * digestBlockBytes + 1000;
  std::unique_ptr<CheckedFile> check(const std::string &content) {
    auto source = std::make_unique<CountingBytes>(content);
    counter = source.get();
    return std::make_unique<CheckedFile>(std::move(source), digest);
  }
  const std::string bytes = manyBytes(kBytes);
  const FileDigest digest = digestBytes(bytes);
  CountingBytes *counter = nullptr;
};

TEST_F(CheckedFileTest, AscendingRangesReadEveryByteOnce) {
  auto file = check(bytes);
  std::string out(bytes.size(), '\0');
  int64_t at = 0;
  // Small ranges, one over several blocks, and small ones again.
  for (int64_t size : {int64_t(8), int64_t(1000), int64_t(0),
                       2 * digestBlockBytes - 3000, int64_t(2500)}) {
    ASSERT_EQ(errorOf(file->read(at, size, out.data() + at)), "ok");
    at += size;
  }
  EXPECT_EQ(counter->total, kBytes);
  ASSERT_EQ(errorOf(file->read(at, kBytes - at, out.data() + at)), "ok");
  EXPECT_EQ(out, bytes);
  EXPECT_EQ(errorOf(file->readRest()), "ok");
  EXPECT_EQ(counter->total, kBytes) << "nothing was left";
  EXPECT_NE(errorOf(file->read(kBytes - 1, 2, out.data())), "ok");
  EXPECT_NE(errorOf(file->read(-1, 2, out.data())), "ok");
}

TEST_F(CheckedFileTest, OnlyTheBlocksOfARangeAreRead) {
  auto file = check(bytes);
  char out[100];
  ASSERT_EQ(errorOf(file->read(digestBlockBytes + 5, 100, out)), "ok");
  EXPECT_EQ(std::memcmp(out, bytes.data() + digestBlockBytes + 5, 100), 0);
  EXPECT_EQ(counter->total, digestBlockBytes);
  ASSERT_EQ(errorOf(file->readRest()), "ok");
  EXPECT_EQ(counter->total, kBytes);
}

TEST_F(CheckedFileTest, AFlippedBitIsFoundWhereverItIs) {
  for (int64_t at : {int64_t(0), digestBlockBytes - 1, digestBlockBytes,
                     2 * digestBlockBytes - 1, kBytes - 1}) {
    std::string flipped = bytes;
    flipped[size_t(at)] = char(flipped[size_t(at)] ^ 64);
    const int64_t block = at / digestBlockBytes;
    const std::string begin = "3|bytes: expects digest " +
                              digest.blocks[size_t(block)] + " of block " +
                              std::to_string(block) + " (bytes ";
    EXPECT_EQ(errorOf(check(flipped)->readRest()).find(begin), 0u) << at;
    std::string out(bytes.size(), '\0');
    EXPECT_EQ(errorOf(check(flipped)->read(0, kBytes, out.data())).find(begin),
              0u)
        << at;
    char one;
    EXPECT_EQ(errorOf(check(flipped)->read(at, 1, &one)).find(begin), 0u);
    // The other blocks are fine.
    auto file = check(flipped);
    for (int64_t other = 0; other < 3; ++other)
      EXPECT_EQ(file->read(other * digestBlockBytes, 1, &one).ok(),
                other != block);
    EXPECT_FALSE(file->readRest().ok());
  }
}

TEST_F(CheckedFileTest, TakesTheDigestsOfWhatWasRead) {
  auto source = std::make_unique<CountingBytes>(bytes);
  counter = source.get();
  CheckedFile file(std::move(source));
  char out[10];
  ASSERT_EQ(errorOf(file.read(2 * digestBlockBytes + 1, 10, out)), "ok");
  auto taken = file.digest();
  ASSERT_EQ(errorOf(taken), "ok");
  EXPECT_EQ(taken->xxh3, digest.xxh3);
  EXPECT_EQ(taken->blocks, digest.blocks);
  EXPECT_EQ(taken->bytes, digest.bytes);
  EXPECT_EQ(counter->total, kBytes);
}

TEST_F(CheckedFileTest, ReadersOfPartsReadEveryBlockTogether) {
  int64_t total = 0;
  std::vector<std::string> found(digest.blocks.size());
  for (int64_t part = 0; part < 2; ++part) {
    auto source = std::make_unique<CountingBytes>(bytes);
    counter = source.get();
    CheckedFile file(std::move(source));
    ASSERT_EQ(errorOf(file.readRest(part, /*parts=*/2)), "ok");
    total += counter->total;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(file.blockDigests()[i].empty(), int64_t(i) % 2 != part);
      found[i] += file.blockDigests()[i];
    }
  }
  EXPECT_EQ(total, kBytes);
  EXPECT_EQ(found, digest.blocks);
}

/// However they take turns, each block is read as a whole once.
TEST_F(CheckedFileTest, FilesThatShareABuffer) {
  auto buffer = std::make_shared<BlockBuffer>();
  std::vector<std::unique_ptr<CheckedFile>> files;
  std::vector<CountingBytes *> counters;
  for (int i = 0; i < 3; ++i) {
    files.push_back(check(bytes));
    files.back()->share(buffer);
    counters.push_back(counter);
  }
  for (int64_t turn = 0; turn < 100; ++turn)
    for (const std::unique_ptr<CheckedFile> &file : files) {
      char out[10];
      ASSERT_EQ(errorOf(file->read(turn * 1000, 10, out)), "ok");
      EXPECT_EQ(std::memcmp(out, bytes.data() + turn * 1000, 10), 0);
    }
  for (const CountingBytes *each : counters)
    EXPECT_LE(each->total, digestBlockBytes + 100 * 10);
  EXPECT_EQ(buffer->capacity, digestBlockBytes);
  buffer->drop();
  files.pop_back();
  EXPECT_EQ(errorOf(files[0]->readRest()), "ok");
  EXPECT_EQ(buffer->capacity, 0) << "for nobody to keep";
  char one;
  EXPECT_EQ(errorOf(files[1]->read(digestBlockBytes, 1, &one)), "ok");
  // A file that is gone leaves no block to the next one at its place.
  EXPECT_EQ(buffer->file, files[1].get());
  files.clear();
  EXPECT_EQ(buffer->file, nullptr);
}

TEST_F(CheckedFileTest, AChangeAfterABlockWasCheckedIsFoundAtTheEnd) {
  std::string changing = bytes;
  auto buffer = std::make_shared<BlockBuffer>();
  CheckedFile file(std::make_unique<CountingBytes>(changing));
  CheckedFile other(std::make_unique<CountingBytes>(bytes));
  file.share(buffer);
  other.share(buffer);
  char one;
  ASSERT_EQ(errorOf(file.read(0, 1, &one)), "ok");
  ASSERT_EQ(errorOf(other.read(0, 1, &one)), "ok");
  changing[1] ^= 1;
  ASSERT_EQ(errorOf(file.read(1, 1, &one)), "ok");
  EXPECT_EQ(errorOf(file.readRest()).find("3|bytes: expects digest"), 0u);
  EXPECT_EQ(errorOf(other.readRest()), "ok");
}

TEST_F(CheckedFileTest, RangesAloneAreCheckedAfterwards) {
  auto source = std::make_unique<CountingBytes>(bytes);
  counter = source.get();
  CheckedFile file(std::move(source));
  char out[100];
  ASSERT_EQ(errorOf(file.read(5, 10, out)), "ok");
  file.readRangesAlone();
  ASSERT_EQ(errorOf(file.read(digestBlockBytes + 5, 100, out)), "ok");
  EXPECT_EQ(std::memcmp(out, bytes.data() + digestBlockBytes + 5, 100), 0);
  EXPECT_EQ(counter->total, digestBlockBytes + 100);
  ASSERT_EQ(errorOf(file.readRest()), "ok");
  EXPECT_EQ(counter->total, digestBlockBytes + 100 + kBytes);
  EXPECT_EQ(file.blockDigests(), digest.blocks);
}

TEST_F(CheckedFileTest, SizeAndCutsOfFiles) {
  TempDir dir;
  std::string path = dir.write("a", bytes);
  auto file = CheckedFile::open(path, digest);
  ASSERT_EQ(errorOf(file), "ok");
  EXPECT_EQ(errorOf(digestFile(path)), "ok");
  ASSERT_EQ(::truncate(path.c_str(), digestBlockBytes + 1), 0);
  char out;
  EXPECT_EQ(errorOf((*file)->read(0, 1, &out)), "ok");
  EXPECT_EQ(errorOf((*file)->readRest()),
            "3|" + path + ": expects " + std::to_string(kBytes) +
                " bytes, but the file now ends before byte " +
                std::to_string(digestBlockBytes + 1) +
                "|it was cut while it was in use");
  EXPECT_EQ(errorOf(CheckedFile::open(path, digest)),
            "3|" + path + ": expects " + exactBytes(kBytes) +
                ", but the file has " + exactBytes(digestBlockBytes + 1));
}
