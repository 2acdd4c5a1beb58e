//===- ResumeTest.cpp - Saving, resuming, crashing ------------------------===//

#include "ToyTool.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"

#include <random>
#include <sys/mount.h>

using namespace weft;

namespace {

class ResumeTest : public ToyTest {
protected:
  /// Twenty steps of a schedule that depends on the total.
  ToolResult twenty(const Args &more) {
    Args args = {"--steps", "20", "--lr-schedule", "cosine", "--warmup", "3",
                 "--accum", "2",  "--shuffle"};
    args.insert(args.end(), more.begin(), more.end());
    return train(args);
  }
  /// The newest committed step of a save directory; 0 without one.
  int64_t newestStep(const std::string &name) const {
    int64_t newest = 0;
    if (exists(name))
      for (const std::string &entry : list(name))
        if (entry.compare(0, 5, "step_") == 0)
          newest = std::max<int64_t>(newest, std::stoll(entry.substr(5)));
    return newest;
  }
  void flipByte(const std::string &name, size_t at) {
    std::string bytes = read(name);
    bytes[at] = char(bytes[at] ^ 1);
    write(name, bytes);
  }
};

TEST_F(ResumeTest, twentyStepsEqualTenAndTen) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--metrics", "a.jsonl"}).status, 0);
  ASSERT_EQ(
      twenty({"--save-dir", "b", "--metrics", "b.jsonl", "--stop-after", "10"})
          .status,
      0);
  ASSERT_EQ(
      twenty({"--save-dir", "b", "--metrics", "b.jsonl", "--resume", "must"})
          .status,
      0);
  expectSameFiles("a/step_00000020", "b/step_00000020");
  auto a = lines("a.jsonl"), b = lines("b.jsonl");
  ASSERT_EQ(a.size(), 21u);
  ASSERT_EQ(b.size(), 21u);
  for (size_t i = 1; i < a.size(); ++i)
    for (const char *key : {"step", "loss", "lr", "grad_norm"})
      EXPECT_EQ(*a[i].find(key), *b[i].find(key)) << key << " of line " << i;
}

// Checkpoints from before rows were shuffled by default.
TEST_F(ResumeTest, fileOrderStaysWithTheCheckpoint) {
  auto steps = [&](const char *name, const Args &more) {
    Args args = {"--steps", "6", "--save-dir", name};
    args.insert(args.end(), more.begin(), more.end());
    return train(args);
  };
  ASSERT_EQ(steps("a", {"--no-shuffle"}).status, 0);
  ASSERT_EQ(steps("b", {"--no-shuffle", "--stop-after", "3"}).status, 0);
  expectError(steps("b", {"--resume", "must", "--shuffle"}), 2,
              "--shuffle expects off, as in the checkpoint\n");
  ToolResult resumed = steps("b", {"--resume", "must"});
  EXPECT_EQ(resumed.status, 0);
  EXPECT_EQ(resumed.err, "");
  expectSameFiles("a/step_00000006", "b/step_00000006");
}

TEST_F(ResumeTest, metricsAreCutBackToTheResumedStep) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--save-every", "5", "--metrics", "m",
                    "--stop-after", "13"})
                .status,
            0);
  std::filesystem::remove_all(path("a/step_00000013"));
  std::ofstream(path("m"), std::ios::app) << "{\"step\": 14, \"lo"; // torn
  ASSERT_EQ(
      twenty({"--save-dir", "a", "--resume", "auto", "--metrics", "m"}).status,
      0);
  auto all = lines("m");
  ASSERT_EQ(all.size(), 21u);
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_EQ(all[i].find("step")->asInt(), int64_t(i));
}

TEST_F(ResumeTest, autoStartsFreshAndFinishedRunsDoNothing) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--resume", "auto"}).status, 0);
  std::string before = read("a/step_00000020/MANIFEST.json");
  Args again = {"--data",     "text.txt", "--steps",  "20",
                "--save-dir", "a",        "--resume", "auto"};
  auto run = bigram(again);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("already at step 20 of 20\n"), std::string::npos);
  EXPECT_EQ(read("a/step_00000020/MANIFEST.json"), before);
}

TEST_F(ResumeTest, keepRetiresOldSteps) {
  ASSERT_EQ(
      twenty({"--save-dir", "a", "--save-every", "4", "--keep", "2"}).status,
      0);
  EXPECT_EQ(list("a"), (Args{"step_00000016", "step_00000020"}));
}

TEST_F(ResumeTest, refusals) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--save-every", "10"}).status, 0);
  expectError(twenty({"--save-dir", "a"}), 5,
              "a: expects an empty save directory, but it has 2 checkpoints, "
              "the newest of step 20\n");
  expectError(twenty({"--save-dir", "b", "--resume", "must"}), 5,
              "b: expects a checkpoint, but found none\n");
  expectError(twenty({"--resume", "nowhere"}), 5,
              "nowhere: expects a step directory or a save directory, but "
              "found none\n");
  expectError(twenty({"--save-dir", "a", "--resume", "auto", "--seed", "7"}), 2,
              "--seed expects 0, the seed of the checkpoint, but got 7\n");
  expectError(train({"--steps", "30", "--save-dir", "a", "--resume", "auto",
                     "--shuffle=off"}),
              2,
              "--shuffle expects on, as in the checkpoint\nhint: without the "
              "flag a resumed run keeps the order of its rows\n");
  expectError(twenty({"--save-dir", "a", "--resume", "a/step_00000010"}), 5,
              "a/step_00000020: expects no checkpoint after step 10, from "
              "which this run continues\n");
  EXPECT_EQ(list("a"), (Args{"step_00000010", "step_00000020"}));
  // Another save directory is fine.
  EXPECT_EQ(twenty({"--save-dir", "c", "--resume", "a/step_00000010"}).status,
            0);
  expectSameFiles("a/step_00000020", "c/step_00000020");
}

TEST_F(ResumeTest, checkpointOfAnotherModel) {
  ASSERT_EQ(twenty({"--save-dir", "a"}).status, 0);
  const std::string step = "a/step_00000020";
  auto manifest = Manifest::read(path(step));
  ASSERT_TRUE(manifest.ok());
  auto with = [&](auto change) {
    Manifest changed = *manifest;
    change(changed);
    EXPECT_TRUE(changed.write(path(step)).ok());
    return twenty({"--save-dir", "a", "--resume", "must"});
  };
  expectError(with([](Manifest &m) { m.fingerprint = "other"; }), 5,
              step +
                  ": expects a checkpoint of model 'toy-bigram', but got one "
                  "of 'toy-bigram': its parameters have the same names and "
                  "shapes, but another computation or configuration "
                  "(fingerprint other, not bigram-128)\n");
  auto another = [](auto change) {
    return [change](Manifest &m) {
      m.fingerprint = "other";
      change(m);
    };
  };
  const std::string names = step + ": expects a checkpoint of model "
                                   "'toy-bigram', but got one of "
                                   "'toy-bigram': ";
  expectError(with(another([](Manifest &m) { m.tensors[0].name = "wte"; })), 5,
              names + "it has no tensor 'table'\n");
  expectError(with(another([](Manifest &m) { m.tensors[0].shape = {16384}; })),
              5,
              names + "its tensor 'table' has shape [16384], not [128, 128]\n");
  expectError(with(another([](Manifest &m) {
                m.tensors.push_back(m.tensors[0]);
                m.tensors.back().name = "wpe";
              })),
              5,
              names + "it has the tensor 'wpe', which the program has not\n");
  expectError(with([](Manifest &m) { m.tensors[1].name = "table.m"; }), 5,
              step + ": expects tensor 'table.exp_avg', but the checkpoint has "
                     "none\n");
  expectError(with([](Manifest &m) { m.tensors[0].type = TensorType::I32; }), 5,
              step + ": tensor 'table' expects type F32, but got I32\n");
  expectError(with([](Manifest &m) { m.tensors[0].shape = {16384}; }), 5,
              step + ": tensor 'table' expects shape [128, 128], but got "
                     "[16384]\n");
  expectError(with([](Manifest &m) {
                m.tensors.push_back(m.tensors.back());
                m.tensors.back().name = "late";
              }),
              5,
              step + ": the program has no tensor 'late' of the "
                     "checkpoint\n");
  EXPECT_EQ(with([](Manifest &) {}).status, 0);
}

TEST_F(ResumeTest, countsOfRowsDoNotOverflow) {
  ASSERT_EQ(twenty({"--save-dir", "a"}).status, 0);
  const std::string step = "a/step_00000020";
  auto manifest = Manifest::read(path(step));
  ASSERT_TRUE(manifest.ok());
  auto resumedAt = [&](int64_t rows) {
    Manifest changed = *manifest;
    changed.cursor.rows = rows;
    EXPECT_TRUE(changed.write(path(step)).ok());
    return train({"--steps", "22", "--resume", step, "--save-dir", "b"});
  };
  expectError(resumedAt(mostRows), 2,
              "--steps expects a training of at most 4611686018427387904 "
              "rows, but 2 steps of 2 x 4 rows after 4611686018427387904 are "
              "more\n");
  EXPECT_FALSE(exists("b"));
  auto last = resumedAt(mostRows - 16);
  EXPECT_EQ(last.status, 0) << last.err;
  // Written by another program: more than can be counted is damage.
  std::string text = read(step + "/MANIFEST.json");
  size_t at = text.find("\"rows\": ");
  ASSERT_NE(at, text.npos);
  size_t end = text.find(',', at);
  text.replace(at, end - at, "\"rows\": 9223372036854775807");
  size_t digest = text.find("xxh3") + 8;
  text.replace(digest, 32, std::string(32, '0'));
  text.replace(digest, 32, digest128(text));
  write(step + "/MANIFEST.json", text);
  auto damaged = train({"--steps", "22", "--resume", step});
  EXPECT_EQ(damaged.status, 5);
  EXPECT_NE(damaged.err.find("field 'cursor.rows': expects an integer from 0 "
                             "to 4611686018427387904, but got "
                             "9223372036854775807\n"),
            std::string::npos)
      << damaged.err;
  expectError(train({"--steps", "1000000000000000", "--accum", "1000000000",
                     "--save-dir", "c"}),
              2,
              "--steps expects at most 2^62 rows of data with "
              "--accum=1000000000 and batch 4, but got 1000000000000000 "
              "steps\n");
}

TEST_F(ResumeTest, samplesTakeTheWeightsAlone) {
  ASSERT_EQ(twenty({"--save-dir", "a"}).status, 0);
  const std::string step = "a/step_00000020";
  auto manifest = Manifest::read(path(step));
  ASSERT_TRUE(manifest.ok());
  auto sample = [&](auto change, const std::string &resume) {
    Manifest changed = *manifest;
    change(changed);
    EXPECT_TRUE(changed.write(path(step)).ok());
    return bigram({"--save-dir", "a", "--resume", resume, "--generate", "th",
                   "--temperature", "0", "--max-new-tokens", "3"});
  };
  auto whole = sample([](Manifest &) {}, "a");
  ASSERT_EQ(whole.status, 0) << whole.err;
  for (const char *resume : {"a", "must", "auto"}) {
    auto run = sample([](Manifest &m) { m.tensors.resize(1); }, resume);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.out, whole.out);
  }
  expectError(sample([](Manifest &m) { m.tensors[0].name = "other"; }, "a"), 5,
              step + ": expects tensor 'table', but the checkpoint has none\n");
  expectError(sample([](Manifest &m) { m.fingerprint = "other"; }, "a"), 5,
              step +
                  ": expects a checkpoint of model 'toy-bigram', but got one "
                  "of 'toy-bigram': its parameters have the same names and "
                  "shapes, but another computation or configuration "
                  "(fingerprint other, not bigram-128)\n");
}

TEST_F(ResumeTest, checkpointOfAnotherOptimizer) {
  ASSERT_EQ(twenty({"--save-dir", "a"}).status, 0);
  const std::string step = "a/step_00000020";
  std::string model = read(step + "/model.json");
  size_t place = model.find("\"adamw\"");
  ASSERT_NE(place, model.npos);
  model.replace(place, 7, "\"adam\"");
  write(step + "/model.json", model);
  auto manifest = Manifest::read(path(step));
  ASSERT_TRUE(manifest.ok());
  for (auto &file : manifest->files)
    if (file.name == "model.json")
      file = {file.name, digestBytes(model)};
  ASSERT_TRUE(manifest->write(path(step)).ok());
  expectError(twenty({"--save-dir", "a", "--resume", "must"}), 5,
              step + ": expects a checkpoint of optimizers [\"adamw\"], but "
                     "got one of [\"adam\"]\n");
}

TEST_F(ResumeTest, saveDirectoryThatIsAFile) {
  expectError(twenty({"--save-dir", "text.txt"}), 8,
              "text.txt: cannot create the directory: file exists\n");
  expectError(twenty({"--resume", "text.txt"}), 5,
              "text.txt: expects a folder of checkpoints, but got a file\n");
}

TEST_F(ResumeTest, damageIsFoundBeforeUse) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--save-every", "10"}).status, 0);
  const std::string rank = "a/step_00000020/rank_00000.safetensors";
  const std::string whole = read(rank);
  flipByte(rank, whole.size() / 2);
  auto must = twenty({"--save-dir", "a", "--resume", "must"});
  expectError(must, 5, rank + ": expects digest ");
  write(rank, whole.substr(0, whole.size() - 1));
  expectError(twenty({"--resume", "a"}), 5,
              rank + ": expects " + exactBytes(int64_t(whole.size())) + ", ");
  std::filesystem::remove(path(rank));
  EXPECT_EQ(twenty({"--resume", "a"}).status, 5);
  write(rank, whole);
  flipByte("a/step_00000020/model.json", 20);
  expectError(twenty({"--resume", "a"}), 5,
              "a/step_00000020/model.json: expects digest ");
}

TEST_F(ResumeTest, autoPassesOverADamagedStepAndSaysSo) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--save-every", "10"}).status, 0);
  ASSERT_EQ(twenty({"--save-dir", "b"}).status, 0);
  flipByte("a/step_00000020/rank_00000.safetensors", 5000);
  auto run = twenty({"--save-dir", "a", "--resume", "auto"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err.find("weft: warning: passing over a damaged checkpoint: "
                         "a/step_00000020/rank_00000.safetensors: expects "
                         "digest "),
            0u)
      << run.err;
  EXPECT_EQ(list("a"),
            (Args{"step_00000010", "step_00000020", "step_00000020.damaged"}));
  expectSameFiles("a/step_00000020", "b/step_00000020");
  for (const char *step : {"10", "20"})
    flipByte("a/step_000000" + std::string(step) + "/MANIFEST.json", 30);
  auto none = twenty({"--save-dir", "a", "--resume", "auto"});
  EXPECT_EQ(none.status, 5);
  EXPECT_NE(none.err.find("weft: error: expects a usable checkpoint, but all 2 "
                          "are damaged: a/step_00000020"),
            std::string::npos)
      << none.err;
}

TEST_F(ResumeTest, damagedStepsKeepEachOther) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--save-every", "10"}).status, 0);
  for (int i = 0; i < 3; ++i) {
    flipByte("a/step_00000020/rank_00000.safetensors", 5000 + i);
    auto run = twenty({"--save-dir", "a", "--resume", "auto"});
    EXPECT_EQ(run.status, 0) << run.err;
  }
  EXPECT_EQ(list("a"),
            (Args{"step_00000010", "step_00000020", "step_00000020.damaged",
                  "step_00000020.damaged.2", "step_00000020.damaged.3"}));
}

TEST_F(ResumeTest, stepsOfOtherVersionsAreNotDamaged) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--save-every", "10"}).status, 0);
  const std::string path = "a/step_00000020/MANIFEST.json";
  std::string text = read(path);
  const std::string key = "\"weft_checkpoint\": ";
  size_t place = text.find(key);
  ASSERT_NE(place, text.npos);
  text.replace(place + key.size(), 1, "9");
  place = text.find("xxh3");
  ASSERT_NE(place, text.npos);
  place = text.find_first_of("0123456789abcdef", place + 4);
  text.replace(place, 32, std::string(32, '0'));
  text.replace(place, 32, digest128(text));
  write(path, text);
  expectError(twenty({"--save-dir", "a", "--resume", "auto"}), 5,
              path + ":3: field 'weft_checkpoint': expects checkpoint format ");
  EXPECT_EQ(list("a"), (Args{"step_00000010", "step_00000020"}));
}

TEST_F(ResumeTest, stepsThatAreRenamedAreFound) {
  ASSERT_EQ(twenty({"--save-dir", "a", "--save-every", "10"}).status, 0);
  std::filesystem::rename(path("a/step_00000020"), path("a/step_00000030"));
  const std::string error =
      "a/step_00000030/MANIFEST.json: expects step 30, but got 20\n";
  expectError(twenty({"--save-dir", "a", "--resume", "must"}), 5, error);
  expectError(twenty({"--save-dir", "b", "--resume", "a"}), 5, error);
  expectError(twenty({"--save-dir", "b", "--resume", "a/step_00000030"}), 5,
              error);
}

TEST_F(ResumeTest, oneRunAtATime) {
  Args endless = {"--data", "text.txt",   "--steps", "1000000",   "--save-dir",
                  "a",      "--progress", "none",    "--metrics", "m"};
  pid_t child = start(TOY_BIGRAM, endless);
  waitForBytes(child, "m", 5000);
  kill(child, SIGSTOP);
  std::string before = read("m");
  for (const char *resume : {"never", "auto", "must"})
    expectError(train({"--steps", "20", "--save-dir", "a", "--metrics", "m",
                       "--keep", "1", "--resume", resume}),
                5,
                "a: expects a save directory that no other run uses, but "
                "process " +
                    std::to_string(child) + " on ");
  EXPECT_EQ(read("m"), before);
  kill(child, SIGKILL);
  EXPECT_EQ(wait(child), 1000 + SIGKILL);
  EXPECT_EQ(list("a"), Args{".lock"});
  EXPECT_EQ(train({"--steps", "20", "--save-dir", "a"}).status, 0);
  EXPECT_EQ(list("a"), Args{"step_00000020"});
}

TEST_F(ResumeTest, crashesLoseNothingCommitted) {
  ASSERT_EQ(twenty({"--save-dir", "whole"}).status, 0);
  for (const char *fault : {"crash@step=13", "crash@save=3"}) {
    std::filesystem::remove_all(path("a"));
    environment = {std::string("WEFT_FAULT=") + fault};
    EXPECT_EQ(twenty({"--save-dir", "a", "--save-every", "5"}).status,
              1000 + SIGKILL);
    environment.clear();
    ASSERT_EQ(
        twenty({"--save-dir", "a", "--save-every", "5", "--resume", "must"})
            .status,
        0);
    EXPECT_EQ(list("a"), (Args{"step_00000005", "step_00000010",
                               "step_00000015", "step_00000020"}))
        << "temporaries are removed";
    expectSameFiles("a/step_00000020", "whole/step_00000020");
  }
}

TEST_F(ResumeTest, killedAtRandomTimes) {
  Args args = {"--data",     "text.txt", "--steps",      "100000",
               "--save-dir", "a",        "--save-every", "1",
               "--keep",     "3",        "--resume",     "auto",
               "--progress", "none",     "--metrics",    "m.jsonl"};
  std::mt19937 random(7);
  int64_t reached = 0;
  useconds_t firstSave = 0; // microseconds until something is committed
  for (int i = 0; i < 20; ++i) {
    pid_t child = start(TOY_BIGRAM, args);
    for (; i == 0 && newestStep("a") == 0; firstSave += 1000) {
      ASSERT_TRUE(isRunning(child)) << read("stderr");
      usleep(1000);
    }
    usleep(useconds_t(random() % (4 * firstSave)));
    kill(child, SIGKILL);
    EXPECT_EQ(wait(child), 1000 + SIGKILL) << read("stderr");
    EXPECT_EQ(read("stderr"), "");
    int64_t newest = newestStep("a");
    EXPECT_GE(newest, reached) << "a committed step is gone";
    reached = newest;
  }
  EXPECT_GT(reached, 0);
  // The last checkpoint continues to the same bytes as a run without kills.
  std::string total = std::to_string(reached + 2);
  Args last = {"--steps", total, "--save-dir", "a", "--resume", "must"};
  auto run = train(last);
  ASSERT_EQ(run.status, 0) << run.err;
  ASSERT_EQ(train({"--steps", total, "--save-dir", "b"}).status, 0);
  std::string step = "/step_" + std::string(8 - total.size(), '0') + total;
  expectSameFiles("a" + step, "b" + step);
}

TEST_F(ResumeTest, fullDiskKeepsOldCheckpoints) {
  environment = {"WEFT_FAULT=storage:enospc@save=2"};
  auto run = twenty({"--save-dir", "a", "--save-every", "5"});
  EXPECT_EQ(run.status, 8);
  EXPECT_NE(run.err.find("rank_00000.safetensors: "), std::string::npos)
      << run.err;
  EXPECT_EQ(list("a"), Args{"step_00000005"});
  environment.clear();
  EXPECT_EQ(twenty({"--save-dir", "a", "--resume", "must"}).status, 0);
}

TEST_F(ResumeTest, realFullDisk) {
  std::filesystem::create_directory(path("disk"));
  if (mount("tmpfs", path("disk").c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "may not mount a small disk";
  auto run = twenty({"--save-dir", "disk/a", "--save-every", "1"});
  Args saved = list("disk/a");
  Args manifest;
  for (const std::string &name : saved)
    if (!read("disk/a/" + name + "/MANIFEST.json").empty())
      manifest.push_back(name);
  auto again = twenty({"--save-dir", "disk/a", "--resume", "auto"});
  umount(path("disk").c_str());
  EXPECT_EQ(run.status, 8);
  EXPECT_NE(run.err.find("no space left on device"), std::string::npos)
      << run.err;
  EXPECT_EQ(saved, manifest) << "something half-written is left";
  EXPECT_EQ(saved.size(), 5u);
  expectError(again, 8,
              "disk/a: expects space for a checkpoint of 192.01 KiB, ");
}

TEST_F(ResumeTest, fileSizeLimitIsAStorageError) {
  Args args = {"--data",     "text.txt", "--steps",    "5",
               "--save-dir", "a",        "--progress", "none"};
  auto run = finish(start(TOY_BIGRAM, args, 100000));
  EXPECT_EQ(run.status, 8) << run.err;
  EXPECT_FALSE(exists("a")) << "made for the run, and empty";
}

TEST_F(ResumeTest, metricsWithoutRoomAreAStorageError) {
  Args args = {"--data",    "text.txt", "--steps",    "500",
               "--metrics", "m",        "--progress", "none"};
  expectError(finish(start(TOY_BIGRAM, args, 20000)), 8,
              "m: cannot write the metrics: file too large\n");
}

TEST_F(ResumeTest, roomIsCheckedBeforeTheFirstStep) {
  EXPECT_TRUE(checkFreeSpace(1000, 1000, "d").ok());
  Status full = checkFreeSpace(4096, 1024, "d");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code(), ExitCode::Storage);
  EXPECT_EQ(full.error().where(), "d: expects space for a checkpoint of 4.00 "
                                  "KiB, but the disk has 1.00 KiB");
}

} // namespace
