//===- ManifestTest.cpp - MANIFEST.json -----------------------------------===//

#include "weft/Formats/Manifest.h"

#include "../Base/TestSupport.h"

#include <fcntl.h>
#include <sys/resource.h>

using namespace weft;

/// Two tensors, one of them in two pieces, in one file of `dir`.
static Manifest sample(const TempDir &dir) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  auto writer = SafetensorsWriter::create(dir.file("rank_00000.safetensors"),
                                          {{"w[0:4)", TensorType::F32, {4}},
                                           {"w[4:6)", TensorType::F32, {2}},
                                           {"step", TensorType::I64, {}}});
  EXPECT_EQ(errorOf(writer->write(values, 24)), "ok");
  EXPECT_EQ(errorOf(writer->write(values, 8)), "ok");
  EXPECT_EQ(errorOf(writer->finish()), "ok");
  const std::string file = "rank_00000.safetensors";
  Manifest m;
  m.worldSize = 2;
  m.fingerprint = "0123";
  m.step = 10;
  m.seed = -7;
  m.cursor = {160, true, 42};
  m.files = {{file, writer->digest()}};
  m.tensors = {{"w",
                "param",
                TensorType::F32,
                {2, 3},
                {{file, pieceKey("w", 0, 4, 6), 0, 4},
                 {file, pieceKey("w", 4, 6, 6), 4, 6}}},
               {"step",
                "optimizer",
                TensorType::I64,
                {},
                {{file, pieceKey("step", 0, 1, 1), 0, 1}}}};
  return m;
}

class ManifestTest : public ::testing::Test {
protected:
  std::string invalid() { return errorOf(manifest.validate("m")); }
  std::string damaged() {
    std::string text = errorOf(manifest.verifyFiles(dir.path()));
    size_t at = text.find(dir.path() + "/");
    return at == text.npos ? text : text.erase(at, dir.path().size() + 1);
  }
  TempDir dir;
  Manifest manifest = sample(dir);
};

TEST_F(ManifestTest, RoundTrip) {
  ASSERT_EQ(errorOf(manifest.write(dir.path())), "ok");
  auto read = Manifest::read(dir.path());
  ASSERT_EQ(errorOf(read), "ok");
  EXPECT_EQ(read->str(), manifest.str());
  EXPECT_EQ(readBytes(dir.file("MANIFEST.json")), manifest.str());
  EXPECT_EQ(read->worldSize, 2);
  EXPECT_EQ(read->fingerprint, "0123");
  EXPECT_EQ(read->step, 10);
  EXPECT_EQ(read->seed, -7);
  EXPECT_EQ(read->cursor.rows, 160);
  EXPECT_TRUE(read->cursor.shuffle);
  EXPECT_EQ(read->cursor.shuffleSeed, 42);
  ASSERT_NE(read->findTensor("w"), nullptr);
  EXPECT_EQ(read->findTensor("w")->pieces[1].key, "w[4:6)");
  EXPECT_EQ(read->findTensor("v"), nullptr);
  EXPECT_EQ(errorOf(read->verifyFiles(dir.path())), "ok");
}

TEST_F(ManifestTest, EveryFlippedBitIsFound) {
  std::string text = manifest.str();
  for (size_t i = 0; i < text.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      auto read = Manifest::parse(flipped, "m");
      ASSERT_FALSE(read.ok()) << i << " " << bit;
      ASSERT_EQ(read.error().code(), ExitCode::Checkpoint);
    }
  for (size_t length = 0; length < text.size(); ++length)
    ASSERT_FALSE(Manifest::parse(text.substr(0, length), "m").ok()) << length;
}

TEST_F(ManifestTest, ReadErrors) {
  EXPECT_EQ(errorOf(Manifest::read(dir.path())),
            "5|" + dir.file("MANIFEST.json") +
                ": cannot open: no such file or directory");
  EXPECT_EQ(errorOf(Manifest::parse("{}", "m")),
            "5|m: expects a manifest that starts with its digest|the file is "
            "damaged or no manifest of weft");
  std::string text = manifest.str();
  text.replace(text.find("160"), 3, "161");
  std::string zeroed = text;
  zeroed.replace(zeroed.find("xxh3") + 8, 32, std::string(32, '0'));
  EXPECT_EQ(errorOf(Manifest::parse(text, "m")),
            "5|m: expects digest " + text.substr(text.find("xxh3") + 8, 32) +
                " of the manifest, but got " + digest128(zeroed) +
                "|the manifest is damaged: resume from an older step");
}

/// The text with one replacement and a digest that fits again.
static std::string edited(std::string text, const std::string &from,
                          const std::string &to) {
  EXPECT_NE(text.find(from), text.npos) << from;
  text.replace(text.find(from), from.size(), to);
  size_t at = text.find("xxh3") + 8;
  text.replace(at, 32, std::string(32, '0'));
  return text.replace(at, 32, digest128(text));
}

TEST_F(ManifestTest, FieldErrors) {
  auto failure = [&](const std::string &from, const std::string &to) {
    return errorOf(Manifest::parse(edited(manifest.str(), from, to), "m"));
  };
  EXPECT_EQ(failure("\"weft_checkpoint\": 2", "\"weft_checkpoint\": 1"),
            "5|m:3: field 'weft_checkpoint': expects checkpoint format 2, but "
            "got 1|an older weft wrote it: continue with that one, or take the "
            "weights with its `weft ckpt export` and give them with "
            "--init-from");
  EXPECT_EQ(failure("\"weft_checkpoint\": 2", "\"weft_checkpoint\": 3"),
            "5|m:3: field 'weft_checkpoint': expects checkpoint format 2, but "
            "got 3|a newer weft wrote it: continue with that one");
  EXPECT_EQ(failure("\"rows\": 160", "\"rows\": 9223372036854775807"),
            "5|m:9: field 'cursor.rows': expects an integer from 0 to "
            "4611686018427387904, but got 9223372036854775807");
  EXPECT_EQ(failure("\"step\": 10", "\"step\": 1000000000000000000"),
            "5|m:4: field 'step': expects an integer from 0 to "
            "999999999999999999, but got 1000000000000000000");
  EXPECT_EQ(failure("\"world_size\": 2", "\"world_size\": 100001"),
            "5|m:5: field 'world_size': expects an integer from 1 to 100000, "
            "but got 100001");
  EXPECT_EQ(failure("\"world_size\": 2", "\"world_size\": 0"),
            "5|m:5: field 'world_size': expects an integer from 1 to 100000, "
            "but got 0");
  EXPECT_EQ(failure("\"rows\": 160", "\"rows\": -1"),
            "5|m:9: field 'cursor.rows': expects an integer from 0 to "
            "4611686018427387904, but got -1");
  EXPECT_EQ(failure("\"dtype\": \"F32\"", "\"dtype\": \"F31\""),
            "5|m:22: field 'tensors[0]': unknown dtype 'F31'");
  EXPECT_EQ(
      failure("\"begin\": 4", "\"begin\": true"),
      "5|m:37: field 'tensors[0].pieces[1].begin': expects an integer of at "
      "least 0, but got true");
  EXPECT_EQ(failure("\"fingerprint\"", "\"fingerprnt\""),
            "5|m:1: field 'fingerprint' is missing");
  EXPECT_EQ(failure("\"seed\"", "\"only_best\": 1, \"seed\""),
            "5|m:7: field 'only_best': expects true or false, but got 1");
  EXPECT_EQ(failure("\"seed\"", "\"fingerprint_1\": 1, \"seed\""),
            "5|m:7: field 'fingerprint_1': expects a string, but got 1");
  EXPECT_EQ(failure("\"shuffle\": true", "\"shuffle\": 1"),
            "5|m:10: field 'cursor.shuffle': expects true or false, but got 1");
  EXPECT_EQ(
      failure("\"end\": 4", "\"end\": 3"),
      "5|m: the pieces of tensor 'w' expect one that begins at element 3, but "
      "got [4, 6)");
}

TEST_F(ManifestTest, RulesOfTheValues) {
  EXPECT_EQ(invalid(), "ok");
  manifest.tensors[0].pieces.pop_back();
  EXPECT_EQ(invalid(),
            "5|m: the pieces of tensor 'w' end at element 4, but it has 6");
  manifest.tensors[0].pieces[0].file = "other";
  EXPECT_EQ(invalid(),
            "5|m: tensor 'w' is in file 'other', which is not listed");
  manifest.tensors[0].shape = {-2};
  EXPECT_EQ(invalid(), "5|m: tensor 'w' has no size for shape [-2]");
  manifest.tensors[0] = manifest.tensors[1];
  EXPECT_EQ(invalid(), "5|m: tensor 'step' is listed twice");
  manifest.tensors.pop_back();
  manifest.tensors[0].type = TensorType::F4;
  EXPECT_EQ(invalid(), "5|m: tensor 'step' expects elements of whole bytes, "
                       "but got F4");
  manifest.tensors[0].kind = "weight";
  EXPECT_EQ(invalid(), "5|m: tensor 'step' expects kind param, optimizer or "
                       "scaler, but got 'weight'");
  FileDigest &digest = manifest.files[0].digest;
  const FileDigest good = digest;
  digest.xxh3 = "12";
  EXPECT_EQ(invalid(), "5|m: expects digest " + good.xxh3 +
                           " over the blocks of 'rank_00000.safetensors', but "
                           "got '12'");
  digest.blocks[0] = "12";
  EXPECT_EQ(invalid(), "5|m: expects digests of 32 hexadecimal digits for "
                       "'rank_00000.safetensors', but got '12'");
  digest = good;
  digest.bytes = 2 * digestBlockBytes + 1;
  EXPECT_EQ(invalid(), "5|m: expects 3 digests of blocks for the 33554433 "
                       "bytes of 'rank_00000.safetensors', but got 1");
  digest.bytes = INT64_MAX;
  EXPECT_EQ(invalid().find("5|m: expects 549755813888 digests"), 0u);
  digest = good;
  manifest.files.push_back(manifest.files[0]);
  EXPECT_EQ(invalid(), "5|m: file 'rank_00000.safetensors' is listed twice");
  for (const char *name : {"../x", "", ".", "..", "MANIFEST.json", "a/b"}) {
    manifest.files[0].name = name;
    EXPECT_EQ(invalid(), "5|m: expects a plain file name, but got '" +
                             std::string(name) + "'");
  }
  EXPECT_EQ(manifest.write(dir.path()).error().code(), ExitCode::Internal);
}

TEST_F(ManifestTest, DamagedFiles) {
  const std::string name = "rank_00000.safetensors";
  const std::string hint =
      "|the checkpoint is damaged: resume from an older step";
  std::string bytes = readBytes(dir.file(name));
  dir.write(name, bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(damaged(), "5|" + name + ": expects " +
                           exactBytes(int64_t(bytes.size())) +
                           ", but the file has " +
                           exactBytes(int64_t(bytes.size()) - 1) + hint);
  std::string flipped = bytes;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  dir.write(name, flipped);
  EXPECT_EQ(damaged(), "5|" + name + ": expects digest " + digest128(bytes) +
                           " of block 0 (bytes 0 to " +
                           std::to_string(bytes.size() - 1) + "), but got " +
                           digest128(flipped) + hint);
  std::filesystem::remove(dir.file(name));
  EXPECT_EQ(damaged(),
            "5|" + name + ": cannot open: no such file or directory" + hint);
  std::filesystem::create_directory(dir.file(name));
  EXPECT_EQ(damaged(),
            "5|" + name + ": expects a file, but got a directory" + hint);
}

TEST_F(ManifestTest, PiecesMustBeInTheFile) {
  const std::string name = "rank_00000.safetensors";
  const std::string hint =
      "|the checkpoint is damaged: resume from an older step";
  manifest.tensors[0].pieces[0].key = "v";
  EXPECT_EQ(damaged(), "5|" + name + ": tensor 'v' is missing" + hint);
  manifest.tensors[0].pieces[0].key = "w[4:6)";
  EXPECT_EQ(
      damaged(),
      "5|" + name +
          ": tensor 'w[4:6)' expects 4 elements of F32, but got 2 of F32" +
          hint);
  dir.write(name, "abc");
  manifest.files[0] = {name, digestBytes("abc")};
  EXPECT_EQ(
      damaged(),
      "5|" + name +
          ": expects a safetensors header, but the file has only 3 bytes|the "
          "checkpoint is damaged: resume from an older step");
}

TEST_F(ManifestTest, FilesWithoutPiecesNeedOnlyTheirDigest) {
  dir.write("model.json", "{}");
  manifest.files.push_back({"model.json", digestBytes("{}")});
  EXPECT_EQ(damaged(), "ok");
  dir.write("model.json", "[]");
  EXPECT_EQ(damaged(), "5|model.json: expects digest " + digest128("{}") +
                           " of block 0 (bytes 0 to 1), but got " +
                           digest128("[]") +
                           "|the checkpoint is damaged: resume from an older "
                           "step");
}

/// Too many open files, until the end of the scope.
namespace {
struct NoDescriptors {
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before);
    int free = ::open("/", O_RDONLY);
    ::close(free);
    rlimit now = {rlim_t(free), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before;
};
} // namespace

TEST_F(ManifestTest, WhatCannotBeReadIsNotDamaged) {
  ASSERT_EQ(errorOf(manifest.write(dir.path())), "ok");
  NoDescriptors none;
  EXPECT_EQ(damaged(),
            "8|rank_00000.safetensors: cannot open: too many open files");
  EXPECT_EQ(errorOf(Manifest::read(dir.path())),
            "8|" + dir.file("MANIFEST.json") +
                ": cannot open: too many open files");
}

TEST(Manifest, PieceKeys) {
  EXPECT_EQ(pieceKey("w", 0, 6, 6), "w");
  EXPECT_EQ(pieceKey("w", 0, 4, 6), "w[0:4)");
  EXPECT_EQ(pieceKey("w", 4, 6, 6), "w[4:6)");
}
