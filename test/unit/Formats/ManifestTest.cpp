//===- ManifestTest.cpp - MANIFEST.json -----------------------------------===//

#include "weft/Formats/Manifest.h"

#include "TestSupport.h"

#include <cmath>

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
  m.cursor = {160, 1, true, 42};
  m.scalars = {{"loss_scale", 65536.0}, {"x", 0.1}};
  m.files = {{file, writer->digest().bytes, writer->digest().xxh3}};
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
  EXPECT_EQ(read->cursor.epoch, 1);
  EXPECT_TRUE(read->cursor.shuffle);
  EXPECT_EQ(read->cursor.shuffleSeed, 42);
  EXPECT_EQ(read->scalar("x"), 0.1);
  EXPECT_FALSE(read->scalar("y"));
  ASSERT_NE(read->findTensor("w"), nullptr);
  EXPECT_EQ(read->findTensor("w")->pieces[1].key, "w[4:6)");
  EXPECT_EQ(read->findTensor("v"), nullptr);
  EXPECT_NE(read->findFile("rank_00000.safetensors"), nullptr);
  EXPECT_EQ(read->findFile("x"), nullptr);
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
  EXPECT_EQ(failure("\"weft_checkpoint\": 1", "\"weft_checkpoint\": 2"),
            "5|m:3: field 'weft_checkpoint': expects checkpoint format 1, but "
            "got 2|it was written by another "
            "version of weft");
  EXPECT_EQ(
      failure("\"world_size\": 2", "\"world_size\": 0"),
      "5|m:5: field 'world_size': expects an integer of at least 1, but got 0");
  EXPECT_EQ(failure("\"rows\": 160", "\"rows\": -1"),
            "5|m:9: field 'cursor.rows': expects an integer of at least 0, but "
            "got -1");
  EXPECT_EQ(failure("\"loss_scale\": 65536.0", "\"loss_scale\": \"x\""),
            "5|m:15: field 'scalars.loss_scale': expects a number, but got the "
            "string 'x'");
  EXPECT_EQ(failure("\"dtype\": \"F32\"", "\"dtype\": \"F31\""),
            "5|m:26: field 'tensors[0]': unknown dtype 'F31'");
  EXPECT_EQ(
      failure("\"begin\": 4", "\"begin\": true"),
      "5|m:41: field 'tensors[0].pieces[1].begin': expects an integer of at "
      "least 0, but got true");
  EXPECT_EQ(failure("\"fingerprint\"", "\"fingerprnt\""),
            "5|m:1: field 'fingerprint' is missing");
  EXPECT_EQ(failure("\"shuffle\": true", "\"shuffle\": 1"),
            "5|m:11: field 'cursor.shuffle': expects true or false, but got 1");
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
            "5|m: tensor 'w' lies in file 'other', which is not listed");
  manifest.tensors[0].shape = {-2};
  EXPECT_EQ(invalid(), "5|m: tensor 'w' has no size for shape [-2]");
  manifest.tensors[0] = manifest.tensors[1];
  EXPECT_EQ(invalid(), "5|m: tensor 'step' is listed twice");
  manifest.scalars[0].second = NAN;
  EXPECT_EQ(invalid(), "5|m: scalar 'loss_scale' is not finite");
  manifest.files[0].xxh3 = "12";
  EXPECT_EQ(invalid(), "5|m: expects a digest of 32 hexadecimal digits for "
                       "'rank_00000.safetensors', but got '12'");
  manifest.files[0].xxh3 = std::string(32, 'a');
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
                           ", but got " + digest128(flipped) + hint);
  std::filesystem::remove(dir.file(name));
  EXPECT_EQ(damaged(),
            "5|" + name + ": cannot open: no such file or directory" + hint);
}

TEST_F(ManifestTest, PiecesMustBeInTheFile) {
  const std::string name = "rank_00000.safetensors";
  manifest.tensors[0].pieces[0].key = "v";
  EXPECT_EQ(damaged(), "5|" + name + ": tensor 'v' is missing");
  manifest.tensors[0].pieces[0].key = "w[4:6)";
  EXPECT_EQ(
      damaged(),
      "5|" + name +
          ": tensor 'w[4:6)' expects 4 elements of F32, but got 2 of F32");
  dir.write(name, "abc");
  manifest.files[0] = {name, 3, digest128("abc")};
  EXPECT_EQ(
      damaged(),
      "5|" + name +
          ": expects a safetensors header, but the file has only 3 bytes");
}

TEST_F(ManifestTest, FilesWithoutPiecesNeedOnlyTheirDigest) {
  dir.write("model.json", "{}");
  manifest.files.push_back({"model.json", 2, digest128("{}")});
  EXPECT_EQ(damaged(), "ok");
  dir.write("model.json", "[]");
  EXPECT_EQ(damaged(), "5|model.json: expects digest " + digest128("{}") +
                           ", but got " + digest128("[]") +
                           "|the checkpoint is damaged: resume from an older "
                           "step");
}

TEST(Manifest, PieceKeys) {
  EXPECT_EQ(pieceKey("w", 0, 6, 6), "w");
  EXPECT_EQ(pieceKey("w", 0, 4, 6), "w[0:4)");
  EXPECT_EQ(pieceKey("w", 4, 6, 6), "w[4:6)");
}
