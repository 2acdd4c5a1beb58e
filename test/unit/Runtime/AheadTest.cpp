//===- AheadTest.cpp - A host that is one step behind its device ----------===//
//
// Whatever work the device has before results are read, the run has the same
// effects, files and output as on a device that waits.
//
//===----------------------------------------------------------------------===//

#include "AheadDevice.h"
#include "RankToy.h"

using namespace weft;

namespace {

/// A metrics line without what depends on time and machine.
std::string timeless(const std::string &line) {
  auto json = parseJson(line, "metrics");
  EXPECT_TRUE(json.ok()) << line;
  for (const char *key :
       {"tokens_per_s", "step_ms", "compute_ms", "data_ms", "mem_bytes"})
    if (json->find(key))
      json->set(key, 0);
  return json->compact();
}

//===----------------------------------------------------------------------===//
// The loop of a rank
//===----------------------------------------------------------------------===//

struct Device {
  int runs = 0;
  bool isLate = false;
};

const Device kDevices[] = {
    {1, true}, {2, false}, {2, true}, {3, true}, {9, true}};

/// The end of a run, and its files.
struct Trace {
  RankEnd end;
  std::string lines, steps, state; // weights, moments, scale
  std::map<std::string, std::string> files;
  int startedAhead = 0;
};

class AheadTest : public RankTest {
protected:
  AheadTest() {
    options.steps = 8;
    options.schedule.lr = 0.125;
  }

  std::unique_ptr<WeftContext> open(const Device &kind) {
    auto context = std::make_unique<WeftContext>(ContextOptions());
    device = std::make_shared<AheadDevice>(1, kind.runs, kind.isLate);
    EXPECT_TRUE(device->arena.allocate(rankToy(1, isScaled).arenaBytes));
    context->attach(rankToy(1, isScaled), device, device->arena.data());
    return context;
  }
  MetricsLog openMetrics() {
    MetricsStart start;
    start.isNew = true;
    auto log = MetricsLog::open(path("metrics"), start, FileLock());
    EXPECT_TRUE(log.ok());
    return std::move(*log);
  }

  Trace trace(const Device &kind) {
    for (const char *name : {"metrics", "saves"})
      std::filesystem::remove_all(path(name));
    stop.signal = 0;
    auto context = open(kind);
    const RunInputs inputs = {rankToy(1, isScaled), metadata, options, faults};
    OneRank alone;
    CheckpointWriter writer(*context, metadata, RunRecord(), saves(), faults,
                            alone);
    DataSet data;
    data.train = std::make_unique<ToyRows>(1, fail);
    Journal journal(Progress(ProgressKind::None, 1, 8, 1, "rows"),
                    openMetrics());
    Trainer trainer({*context, data, alone, journal, stop, &writer}, inputs,
                    TrainState());
    auto code = trainer.run();
    Trace result;
    result.end = {code ? int(*code) : code.error().exitStatus(),
                  code ? "" : code.error().str(), trainer.state().step};
    result.startedAhead = device->startedAhead();
    for (const NamedTensor &tensor : savedTensors(inputs.executable))
      result.state.append(device->arena.data() + heldBy(tensor, 0).offset,
                          size_t(tensor.elements * 4));
    collect(result);
    return result;
  }

  void collect(Trace &result) {
    result.steps = stepsOf("saves");
    std::istringstream in(read("metrics"));
    for (std::string line; std::getline(in, line);)
      result.lines += timeless(line) + "\n";
    if (!exists("saves"))
      return;
    for (const std::string &step : list("saves"))
      for (const std::string &name : list("saves/" + step))
        result.files[step + "/" + name] = read("saves/" + step + "/" + name);
  }

  /// The same on every device as on one that waits; returns that.
  Trace expectSame(const std::string &what) {
    const Trace waits = trace({});
    EXPECT_EQ(waits.startedAhead, 0);
    for (const Device &kind : kDevices) {
      SCOPED_TRACE(what + ", " + std::to_string(kind.runs) + " runs ahead" +
                   (kind.isLate ? ", late" : ""));
      const Trace other = trace(kind);
      EXPECT_EQ(other.end.code, waits.end.code);
      EXPECT_EQ(other.end.error, waits.end.error);
      EXPECT_EQ(other.end.step, waits.end.step);
      EXPECT_EQ(other.lines, waits.lines);
      EXPECT_TRUE(other.state == waits.state);
      EXPECT_EQ(other.steps, waits.steps);
      EXPECT_TRUE(other.files == waits.files);
    }
    return waits;
  }
  void setFaults(const std::string &text) {
    auto parsed = Faults::parse(text);
    ASSERT_TRUE(parsed.ok()) << text;
    faults = *parsed;
  }

  std::shared_ptr<AheadDevice> device;
  bool isScaled = false;
  ToyStop stop;
  ToyRows::Fail fail = [](int64_t) { return Status::success(); };
};

// Guards the other tests: micro-batches do begin before the previous update is
// finished, if two runs or more are in flight.
TEST_F(AheadTest, StepsBeginEarly) {
  for (int accum : {1, 3}) {
    options.accum = accum;
    EXPECT_EQ(trace({0, false}).startedAhead, 0);
    EXPECT_EQ(trace({1, false}).startedAhead, 0);
    for (int runs : {2, 3, 9})
      EXPECT_GE(trace({runs, true}).startedAhead, 7) << runs;
    EXPECT_EQ(device->mostInFlight(), 2 * accum + 1);
  }
  options.saveEvery = 1;
  EXPECT_EQ(trace({9, true}).startedAhead, 0);
}

// Saves take long here, as they wait for the disk: few cases have some.
TEST_F(AheadTest, WholeRunsAreTheSame) {
  for (int accum : {1, 2, 3})
    for (int stopAfter : {0, 1, 5}) {
      isScaled = stopAfter == 5;
      options.accum = accum;
      options.saveEvery = accum == 2 ? 3 : 0;
      options.stopAfter = stopAfter;
      const Trace run = expectSame("K " + std::to_string(accum));
      EXPECT_EQ(run.end.code, 0) << run.end.error;
      EXPECT_EQ(run.end.step, stopAfter ? stopAfter : 8);
    }
}

// Exit 6 without a loss scale: the same gradient is named, and checkpoints
// exist of the same steps.
TEST_F(AheadTest, AStepThatIsNotFiniteIsTheLast) {
  for (int accum : {1, 2, 3})
    for (int step = 1; step <= 8; ++step) {
      options.accum = accum;
      options.saveEvery = accum == 3 ? 3 : 0;
      setFaults("num:inf@step=" + std::to_string(step));
      const Trace run = expectSame("step " + std::to_string(step));
      EXPECT_EQ(run.end.code, 6);
      EXPECT_EQ(run.end.step, step - 1);
      EXPECT_NE(
          run.end.error.find("step " + std::to_string(step) +
                             ": expects finite gradients, but the gradient of "
                             "'w' is not (element 0)"),
          std::string::npos)
          << run.end.error;
    }
}

TEST_F(AheadTest, SkippedStepsAreTheSame) {
  isScaled = true;
  for (int accum : {1, 2, 3})
    for (const char *steps : {"1", "8", "2,4-5,7"}) {
      options.accum = accum;
      setFaults(std::string("num:nan@step=") + steps);
      const Trace run = expectSame(steps);
      EXPECT_EQ(run.end.code, 0) << run.end.error;
      EXPECT_NE(run.lines.find("\"skipped\":true"), std::string::npos);
    }
}

TEST_F(AheadTest, AnExhaustedScaleIsTheEndOfTheSameStep) {
  isScaled = true;
  for (int accum : {1, 3})
    for (const char *steps : {"1-8", "2-8"}) {
      options.accum = accum;
      options.saveEvery = accum == 3 ? 3 : 0;
      setFaults(std::string("num:inf@step=") + steps);
      const Trace run = expectSame(steps);
      EXPECT_EQ(run.end.code, 6);
      EXPECT_NE(run.end.error.find("which cannot shrink any more"),
                std::string::npos)
          << run.end.error;
    }
}

// The steps before are saved.
TEST_F(AheadTest, LostRowsAreTheEndOfTheSameStep) {
  for (int accum : {1, 3})
    for (int64_t lost = 0; lost < 4 * accum; ++lost) {
      options.accum = accum;
      fail = [&](int64_t row) {
        return row >= lost ? Status(inputError("no row left"))
                           : Status::success();
      };
      const Trace run = expectSame("row " + std::to_string(lost));
      EXPECT_EQ(run.end.code, 3);
      EXPECT_EQ(run.end.step, lost / accum);
      EXPECT_EQ(run.steps,
                lost < accum ? "" : std::to_string(lost / accum) + " ");
    }
}

// A bad step and lost rows: the run reports the error that comes first on a
// device that waits.
TEST_F(AheadTest, OfTwoFailuresTheFirstIsTold) {
  for (int step = 1; step <= 5; ++step) {
    setFaults("num:inf@step=" + std::to_string(step));
    fail = [](int64_t row) {
      return row == 3 ? Status(inputError("no row left")) : Status::success();
    };
    EXPECT_EQ(expectSame("step " + std::to_string(step)).end.code,
              step < 4 ? 6 : 3);
  }
}

// A signal arrives while rows are read: the run stops after a step that it has
// not told yet, in the state of a run that was never stopped.
TEST_F(AheadTest, ASignalStopsAtAWholeStep) {
  options.saveEvery = 1;
  const Trace whole = trace({});
  options.saveEvery = 0;
  for (int accum : {1, 3})
    for (int64_t at = 0; at < 7 * accum; at += accum == 1 ? 2 : 5)
      for (const Device &kind : kDevices) {
        options.accum = accum;
        fail = [&](int64_t row) {
          if (row == at)
            stop.signal = SIGTERM;
          return Status::success();
        };
        const Trace run = trace(kind);
        const int64_t step = run.end.step;
        EXPECT_EQ(run.end.code, 75);
        EXPECT_GE(step, std::max<int64_t>(1, at / accum));
        EXPECT_LE(step, at / accum + 1);
        EXPECT_EQ(run.steps, std::to_string(step) + " ");
        if (accum > 1)
          continue;
        EXPECT_EQ(whole.lines.compare(0, run.lines.size(), run.lines), 0);
        for (const auto &[name, bytes] : run.files)
          EXPECT_EQ(bytes, whole.files.at(name)) << name;
      }
}

//===----------------------------------------------------------------------===//
// Whole programs
//===----------------------------------------------------------------------===//

class AheadRunsTest : public ToyTest {
protected:
  /// The files and the output of runs of the bigram model with these flags, one
  /// after the other in one folder.
  std::map<std::string, std::string> filesOf(const std::string &device,
                                             const std::vector<Args> &runs) {
    const std::string parent = folder;
    folder = parent + "/" + device;
    std::filesystem::create_directory(folder);
    std::filesystem::copy_file(parent + "/text.txt", folder + "/text.txt");
    environment = {"TOY_AHEAD=" + device};
    std::map<std::string, std::string> files;
    for (const Args &more : runs) {
      Args args = {"--data",     "text.txt", "--val-fraction", "0.2",
                   "--progress", "none",     "--metrics",      "metrics"};
      args.insert(args.end(), more.begin(), more.end());
      ToolResult run = finish(start(TOY_BIGRAM "Ahead", args));
      files["said"] += std::to_string(run.status) + run.out + run.err;
    }
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) {
        const std::string name =
            std::filesystem::relative(entry.path(), folder);
        files[name] = textOf(name);
      }
    folder = parent;
    std::filesystem::remove_all(parent + "/" + device);
    return files;
  }
  std::string textOf(const std::string &name) {
    if (name == "trace")
      return "";
    if (name.find("MANIFEST") != name.npos)
      return withoutRun(name.substr(0, name.rfind('/')), "MANIFEST.json");
    if (name != "metrics")
      return read(name);
    std::string text;
    for (const Json &line : lines(name))
      text += timeless(line.compact()) + "\n";
    return text;
  }
  /// The same on every device; the output begins with `said`.
  void expectSame(const std::vector<Args> &runs, const std::string &said) {
    const auto waits = filesOf("0", runs);
    EXPECT_EQ(waits.at("said").substr(0, said.size()), said);
    EXPECT_FALSE(waits.at("metrics").empty());
    for (const char *device : {"1,late", "2", "2,late", "5,late"}) {
      const auto other = filesOf(device, runs);
      for (const auto &[name, text] : waits)
        EXPECT_EQ(other.count(name) ? other.at(name) : "absent", text)
            << name << " on " << device;
      EXPECT_EQ(other.size(), waits.size());
    }
  }
};

TEST_F(AheadRunsTest, LooksAndSavesSeeTheSame) {
  expectSame({{"--steps", "11", "--save-dir", "saves", "--save-every", "4",
               "--eval-every", "3", "--sample-every", "5", "--generate", "the ",
               "--max-new-tokens", "5", "--accum", "2", "--keep-best"}},
             "0the ");
}

TEST_F(AheadRunsTest, AContinuedRunIsTheSame) {
  expectSame({{"--steps", "9", "--save-dir", "saves", "--stop-after", "4"},
              {"--resume", "auto", "--steps", "9", "--save-dir", "saves"}},
             "00");
}

TEST_F(AheadRunsTest, WatchedRunsAreTheSame) {
  expectSame({{"--steps", "5", "--dump-grads", "grads", "--accum", "2"},
              {"--steps", "5", "--trace", "trace"}},
             "0"
             "0weft: warning: metrics: replacing the metrics of an earlier "
             "run\n");
}

} // namespace
