//===- AwayTest.cpp - A device whose memory the host does not see ---------===//

#include "ToyTool.h"

using namespace weft;

namespace {
class AwayTest : public ToyTest {
protected:
  /// Runs a program on the host and on the device, each in a folder of its own
  /// with the same names, and returns what both say.
  ToolResult both(const std::string &host, const std::string &away, Args args) {
    const std::string parent = folder;
    ToolResult results[2];
    for (int i = 0; i < 2; ++i) {
      folder = parent + (i == 0 ? "/host" : "/away");
      if (std::filesystem::create_directory(folder))
        std::filesystem::copy_file(parent + "/text.txt", folder + "/text.txt");
      results[i] = finish(start(i == 0 ? host : away, args));
    }
    folder = parent;
    EXPECT_EQ(results[0].status, results[1].status) << results[1].err;
    EXPECT_EQ(results[0].err, results[1].err);
    return results[1];
  }
  ToolResult bigrams(const Args &more) {
    Args args = {"--data", "text.txt", "--progress", "none"};
    args.insert(args.end(), more.begin(), more.end());
    return both(TOY_BIGRAM, TOY_BIGRAM_AWAY, args);
  }
};
} // namespace

TEST_F(AwayTest, TrainsSavesAndResumesTheSame) {
  ToolResult run =
      bigrams({"--steps", "3", "--accum", "2", "--save-dir", "ck",
               "--val-fraction", "0.2", "--dump-grads", "grads.safetensors"});
  EXPECT_EQ(run.status, 0) << run.err;
  expectSameFiles("host/ck/step_00000003", "away/ck/step_00000003");
  EXPECT_EQ(read("host/grads.safetensors"), read("away/grads.safetensors"));
  run = bigrams({"--steps", "6", "--accum", "2", "--save-dir", "ck",
                 "--val-fraction", "0.2", "--resume", "auto"});
  EXPECT_EQ(run.status, 0) << run.err;
  expectSameFiles("host/ck/step_00000006", "away/ck/step_00000006");
}

TEST_F(AwayTest, FindsBadGradientsTheSame) {
  environment = {"WEFT_FAULT=num:inf@step=2"};
  expectError(
      bigrams({"--steps", "3"}), 6,
      "step 2: expects finite gradients, but the gradient of 'table' is not "
      "(element 0); nothing was updated");
}

TEST_F(AwayTest, SamplesTheSame) {
  ToolResult run = both(TOY_BIGRAM, TOY_BIGRAM_AWAY,
                        {"--generate", "the ", "--max-new-tokens", "20"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.substr(0, 4), "the ");
  EXPECT_EQ(read("host/stdout"), read("away/stdout"));
}

/// Weights of another type are converted on the way.
TEST_F(AwayTest, TakesWeightsFromFiles) {
  for (const char *type : {"F32", "F64"}) {
    const std::string name = std::string(type) + ".safetensors";
    for (const char *side : {"host", "away"}) {
      std::filesystem::create_directory(path(side));
      std::filesystem::copy_file(
          path("text.txt"), path(std::string(side) + "/text.txt"),
          std::filesystem::copy_options::overwrite_existing);
      auto writer = SafetensorsWriter::create(
          path(side + ("/" + name)),
          {{"bigram.table", *parseTensorType(type), {128, 128}}});
      ASSERT_TRUE(writer.ok());
      std::vector<double> wide(128 * 128);
      std::vector<float> narrow(128 * 128);
      for (size_t i = 0; i < wide.size(); ++i)
        narrow[i] = float(wide[i] = double(i % 31) / 64);
      ASSERT_TRUE(type[1] == '6' ? writer->write(wide.data(), 128 * 128 * 8)
                                 : writer->write(narrow.data(), 128 * 128 * 4));
      ASSERT_TRUE(writer->finish());
    }
    ToolResult run = bigrams({"--steps", "2", "--init-from", name, "--save-dir",
                              std::string("of-") + type});
    EXPECT_EQ(run.status, 0) << run.err;
    const std::string step = std::string("/of-") + type + "/step_00000002";
    expectSameFiles("host" + step, "away" + step);
  }
}
