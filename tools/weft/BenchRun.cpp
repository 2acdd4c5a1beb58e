//===- BenchRun.cpp - Measure the commands of a model ---------------------===//

#include "BenchRun.h"

#include "CompileFiles.h"

#include "weft/Base/Durable.h"
#include "weft/Base/OutputFile.h"
#include "weft/Formats/Json.h"
#include "weft/Pipeline/Simulate/OverlapFit.h"
#include "weft/Runtime/Execute/ParallelFor.h"
#include "weft/Support/HelperProgram.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <map>

using namespace weft;

using Costs = std::map<std::string, std::vector<CostSample>>;

/// Text that every model has tokens for: a byte each.
static std::string makeText() {
  std::string text;
  uint32_t state = 1;
  for (int i = 0; i < (1 << 16); ++i) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>('a' + (state >> 24) % 26);
  }
  return text;
}

int64_t BenchOptions::findThreads() const {
  if (threads > 0 || ranks > 1)
    return threads;
  return availableThreads();
}

/// Compiles `model` to `program`, which will run with `threads`.
static Expected<Costs> compileModel(const std::string &model,
                                    const std::vector<std::string> &flags,
                                    const std::string &program,
                                    int64_t threads) {
  auto compiler = compileToPlan(model, flags);
  if (!compiler)
    return compiler.takeError();
  Costs costs = describeCosts((*compiler)->module(), threads);
  Expected<std::string> bytes = compileProgram(**compiler);
  if (!bytes)
    return bytes.takeError();
  if (Status status = writeFile(program, *bytes, FileMode::Executable); !status)
    return status.takeError();
  return costs;
}

static std::vector<std::string> makeCommand(const std::string &program,
                                            const BenchOptions &options,
                                            const std::string &data,
                                            const std::string &trace) {
  std::vector<std::string> command;
  if (options.ranks > 1 && !options.areThreads)
    command = {"/proc/self/exe", "launch"}; // whatever has its name now
  command.insert(command.end(),
                 {program, "--data=" + data, "--data-format=text",
                  "--steps=" + std::to_string(options.steps),
                  "--trace=" + trace, "--progress=none"});
  if (options.threads > 0)
    command.push_back("--threads=" + std::to_string(options.threads));
  if (options.ranks > 1 && options.areThreads)
    command.push_back("--loopback=" + std::to_string(options.ranks));
  return command;
}

double weft::medianOf(std::vector<double> values) {
  auto middle = values.begin() + int64_t(values.size()) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The error of a run that failed: its exit code and its own message.
static Error describeEnd(const HelperEnd &end) {
  if (end.code < 0)
    return Error(ExitCode::Device,
                 "cannot run the measured program: " + end.problem)
        .hint("programs are run in the folder for temporary files: TMPDIR "
              "names another one");
  llvm::StringRef said = end.said;
  said = said.take_front(said.find("\nhint: ")).trim();
  said = said.substr(said.rfind('\n') + 1);
  said.consume_front("weft: error: ");
  return Error(ExitCode(end.code), "a run that is measured ended with " +
                                       std::to_string(end.code) +
                                       (said.empty() ? "" : ": " + said.str()));
}

static std::string programIn(const std::string &folder) {
  return folder + "/program";
}

Expected<BenchProgram>
BenchProgram::compile(const BenchModel &model,
                      const std::vector<std::string> &flags,
                      const std::string &folder, int64_t threads) {
  if (Status status = makeDirectories(folder); !status)
    return status.takeError();
  if (Status status = writeFile(folder + "/config.json", model.config); !status)
    return status.takeError();
  std::vector<std::string> all = flags;
  all.push_back("--batch=" + std::to_string(model.batch));
  all.push_back("--seq=" + std::to_string(model.seq));
  Expected<Costs> costs = compileModel(folder, all, programIn(folder), threads);
  if (!costs)
    return costs.takeError();
  BenchProgram program;
  program.folder = folder;
  program.flags = std::move(all);
  program.costs = std::move(*costs);
  return program;
}

Expected<MeasuredTimes> BenchProgram::run(const BenchOptions &options) const {
  const std::string data = folder + "/data.txt", trace = folder + "/trace.json";
  if (Status status = writeFile(data, makeText()); !status)
    return status.takeError();
  unbindThread();
  const HelperEnd end = waitForHelper(
      makeCommand(programIn(folder), options, data, trace), folder);
  if (end.code != 0)
    return describeEnd(end);
  return readMeasuredTrace(trace, costs,
                           options.isShared ? MeasuredClock::LeastOfThread
                                            : MeasuredClock::Mean);
}

namespace {
struct Gpt2 {
  int64_t width, heads, layers, vocab;
  double dropout;
};
struct Llama {
  int64_t width, inner, heads, keyHeads, layers, vocab;
};
} // namespace

/// Longer than any row here.
static constexpr int64_t kPositions = 512;

static std::string configOf(const Gpt2 &model) {
  Json config = Json::object();
  config.set("model_type", "gpt2");
  config.set("vocab_size", model.vocab);
  config.set("n_positions", kPositions);
  config.set("n_embd", model.width);
  config.set("n_layer", model.layers);
  config.set("n_head", model.heads);
  config.set("activation_function", "gelu_new");
  for (const char *field : {"resid_pdrop", "embd_pdrop", "attn_pdrop"})
    config.set(field, model.dropout);
  return config.compact();
}

static std::string configOf(const Llama &model) {
  Json config = Json::object();
  config.set("model_type", "llama");
  config.set("vocab_size", model.vocab);
  config.set("max_position_embeddings", kPositions);
  config.set("hidden_size", model.width);
  config.set("intermediate_size", model.inner);
  config.set("num_hidden_layers", model.layers);
  config.set("num_attention_heads", model.heads);
  config.set("num_key_value_heads", model.keyHeads);
  config.set("hidden_act", "silu");
  config.set("tie_word_embeddings", false);
  return config.compact();
}

std::vector<BenchModel> weft::benchModels(bool areFew) {
  std::vector<BenchModel> models = {
      {configOf(Gpt2{192, 6, 2, 512, 0}), 2, 64},
      {configOf(Llama{288, 768, 9, 3, 1, 704}), 2, 160},
      {configOf(Gpt2{96, 3, 2, 288, 0}), 4, 192},
      {configOf(Llama{64, 192, 2, 1, 2, 256}), 8, 64},
      {configOf(Gpt2{320, 5, 1, 1024, 0.1}), 3, 96},
      {configOf(Llama{160, 448, 5, 5, 2, 320}), 4, 64},
      // Sizes of real models: most of the time of their steps.
      {configOf(Gpt2{640, 10, 1, 8192, 0}), 1, 384},
      {configOf(Llama{768, 2048, 12, 4, 1, 8192}), 1, 512},
      {configOf(Gpt2{512, 8, 1, 1024, 0}), 4, 256},
      {configOf(Llama{512, 1408, 4, 2, 1, 4096}), 1, 448},
  };
  if (areFew)
    models.resize(2);
  return models;
}
