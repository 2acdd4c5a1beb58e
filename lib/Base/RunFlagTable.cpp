//===- RunFlagTable.cpp - The table of run flags --------------------------===//

#include "weft/Base/FlagNames.h"

using namespace weft;

static const double kInf = std::numeric_limits<double>::infinity();

static FlagSpec text(const char *name, const char *valueName, const char *help,
                     FlagFile file = FlagFile::None) {
  FlagSpec spec = {name, FlagKind::String, RunFlag, "", valueName, help};
  spec.file = file;
  return spec;
}

/// The limit of steps and similar counts. Sums of a few counts never overflow,
/// and a double represents each exactly. Products with the batch are checked
/// separately.
static constexpr double kMostCount = 1e15;

static FlagSpec integer(const char *name, const char *defaultText,
                        const char *help, double least,
                        double most = kMostCount) {
  FlagSpec spec = {name, FlagKind::Int, RunFlag, defaultText, "N", help};
  spec.least = least;
  spec.most = most;
  return spec;
}

static FlagSpec number(const char *name, const char *defaultText,
                       const char *help, double least, double most) {
  FlagSpec spec = {name, FlagKind::Double, RunFlag, defaultText, "X", help};
  spec.least = least;
  spec.most = most;
  return spec;
}

static FlagSpec choice(const char *name, const char *defaultText,
                       const char *choices, const char *help) {
  return {name, FlagKind::Enum, RunFlag, defaultText, "", help, choices};
}

static FlagSpec toggle(const char *name, const char *help,
                       const char *defaultText = "") {
  return {name, FlagKind::Switch, RunFlag, defaultText, "", help};
}

static std::vector<FlagSpec> dataFlags() {
  return {
      withInferenceHelp(
          text("data", "FILE",
               "training data: text, .bin tokens, or safetensors",
               FlagFile::Read),
          "data with the rows: text, .bin tokens, or safetensors"),
      text("val-data", "FILE", "validation data", FlagFile::Read),
      number("val-fraction", "0",
             "fraction of the data, at its end, that is kept for validation", 0,
             0.999),
      choice("data-format", "auto", "auto|text|u16|u32",
             "format of the token file; auto recognises text and llm.c .bin"),
      choice("tokenizer", "auto", "auto|bytes",
             "bytes: read text as bytes even if the model has a tokenizer"),
      toggle("shuffle",
             "permute the rows of each epoch by the seed; --no-shuffle: file "
             "order",
             "on"),
      text("data-name", "TEXT",
           "name of --data in messages; weft names the text whose tokens it "
           "has"),
      text("val-data-name", "TEXT", "name of --val-data in messages"),
  };
}

static std::vector<FlagSpec> stepFlags() {
  return {
      integer("steps", "", "optimizer steps in total, including resumed ones",
              0),
      integer("epochs", "",
              "passes over all rows of --data, instead of --steps", 1),
      integer(
          "stop-after", "0",
          "stop this run after N more steps, with a checkpoint; 0: do not stop",
          0),
      integer("accum", "1", "micro-steps per optimizer step", 1),
  };
}

static std::vector<FlagSpec> optimizerFlags() {
  return {
      number("lr", "0.001", "learning rate after the warmup", 0, 1e30),
      choice("lr-schedule", "constant", "constant|linear|cosine|wsd",
             "schedule of the learning rate"),
      integer("lr-decay-steps", "",
              "step at which --min-lr is reached; "
              "default: the steps of the run",
              1),
      integer("warmup", "0", "steps of linear warmup", 0),
      number("min-lr", "0", "learning rate at the end of the schedule", 0,
             1e30),
      number("weight-decay", "",
             "weight decay of every optimizer, in place of its own", 0, 1e30),
      number("beta1", "0.9", "decay of the first moment (adam, adamw)", 0,
             0.9999999999),
      number("beta2", "0.999", "decay of the second moment (adam, adamw)", 0,
             0.9999999999),
      number("eps", "1e-08", "term in the denominator (adam, adamw)", 0, 1e30),
      number("momentum", "0", "momentum (sgd)", 0, 1e30),
      number("clip", "0", "limit of the global gradient norm; 0: none", 0,
             kInf),
  };
}

static std::vector<FlagSpec> weightFlags() {
  return {
      withInferenceHelp(
          integer("seed", "0",
                  "seed of initial weights, dropout, shuffling and sampling", 0,
                  kInf),
          "seed of sampling"),
      withInferenceHelp(text("init-from", "FILE|none",
                             "initial weights; none: draw them from the seed",
                             FlagFile::Read),
                        "weights; none: draw them from the seed"),
  };
}

static std::vector<FlagSpec> checkpointFlags() {
  return {
      withInferenceHelp(
          text("save-dir", "DIR|none",
               "folder of checkpoints; default: with --resume PATH the folder "
               "of that checkpoint, else none"),
          "folder of the checkpoints of --resume=auto"),
      integer("save-every", "0", "steps between checkpoints; 0: only the last",
              0),
      integer("keep", "0", "newest checkpoints to keep; 0: all", 0),
      toggle("keep-best", "also keep the checkpoint with the lowest validation "
                          "loss, saved as soon as it is found"),
      withInferenceHelp({"resume", FlagKind::String, RunFlag, "never",
                         "auto|never|must|PATH",
                         "continue from the newest checkpoint, or from PATH"},
                        "use the weights of the newest checkpoint, or of PATH"),
  };
}

static std::vector<FlagSpec> evaluationFlags() {
  return {
      integer("eval-every", "0", "steps between evaluations; 0: only the last",
              0),
      withInferenceHelp(
          integer(
              "eval-steps", "20",
              "batches of an evaluation; 0: all, the default of --eval-only",
              0),
          "batches of the evaluation; 0: all, the default"),
      withInferenceHelp(
          toggle("eval-only",
                 "print the validation loss and, of a language model, "
                 "the perplexity; do not train"),
          "print the loss of --val-data and, of a language model, the "
          "perplexity"),
      withInferenceHelp(
          text("predictions", "FILE",
               "write the results of each row of --data as safetensors; do not "
               "train",
               FlagFile::Written),
          "write the results of each row of --data as safetensors"),
  };
}

static std::vector<FlagSpec> outputFlags() {
  return {
      integer("log-every", "1", "steps between progress lines", 1),
      withInferenceHelp(text("metrics", "FILE",
                             "write one JSON object per step",
                             FlagFile::Written),
                        "write the results of the evaluation as JSON lines"),
      withInferenceHelp(text("tensorboard", "DIR",
                             "write the metrics as an event file in DIR"),
                        "write them as an event file in DIR"),
      choice("progress", "auto", "auto|bar|line|json|none",
             "progress output; auto: a bar on a terminal, else lines"),
      text("trace", "FILE", "write a Chrome trace of the commands",
           FlagFile::Written),
      text("dump-grads", "FILE",
           "write the gradients of the first step as safetensors",
           FlagFile::Written),
      toggle("overwrite", "let outputs replace files that weft did not write"),
  };
}

static std::vector<FlagSpec> rankFlags() {
  return {
      integer("threads", "0", "threads; 0: all that the process may use", 0,
              1024),
      integer("loopback", "",
              "run the N ranks of the mesh as threads of one process", 1),
      number("timeout", "60",
             "seconds until a silent rank times out; half of them for a "
             "tokenizer",
             0.1, 1e9),
      integer(
          "check-replicas", "0",
          "steps between comparisons of replicas; 0: only before checkpoints",
          0),
  };
}

static std::vector<FlagSpec> deviceFlags() {
  return {
      choice("gather", "auto", "auto|sm|ce",
             "gathers of parameters on CUDA devices: by kernels of NCCL (sm) "
             "or copy engines (ce); auto: sm"),
      toggle("no-graph", "launch each command separately on a CUDA device, "
                         "without recorded graphs"),
      text("tune", "FILE",
           "measure the algorithms of all products on a CUDA device, write the "
           "fastest to FILE and exit",
           FlagFile::Written),
      text("tuning", "FILE|auto|none",
           "use the algorithms of products in FILE, which --tune wrote; auto: "
           "measure them once for a device, and keep them in the cache",
           FlagFile::Read),
  };
}

static std::vector<FlagSpec> sampleFlags() {
  return {
      text("generate", "PROMPT", "print a sample that continues PROMPT"),
      text("generate-ids", "IDS",
           "print token numbers that continue these, such as 5,12,7"),
      integer("max-new-tokens", "100", "tokens of the sample", 1, 1e9),
      number("temperature", "1", "0: always the most probable token", 0, 1e6),
      integer("top-k", "0", "sample among the K most probable; 0: all", 0),
      number("top-p", "1",
             "sample among the most probable tokens that have this probability "
             "together",
             0, 1),
      number("min-p", "0",
             "sample among tokens with at least this part of the largest "
             "probability",
             0, 1),
      number("repetition-penalty", "1",
             "divide the positive logits of tokens in the text by this, "
             "multiply the negative ones",
             0.01, 100),
      text("stop", "TEXT", "end the sample before TEXT"),
      text("stop-ids", "IDS", "end the sample before one of these tokens"),
      integer("sample-every", "0",
              "steps between samples during training; 0: only after it", 0),
  };
}

static std::vector<FlagSpec> generalFlags() {
  return {
      toggle("dry-run", "check everything, print the plan, write nothing"),
      toggle("version", "print the version"),
  };
}

std::vector<FlagSpec> weft::runFlagSpecs() {
  std::vector<FlagSpec> all;
  appendFlags(all, dataFlags(), FlagTopic::Data);
  appendFlags(all, stepFlags(), FlagTopic::Steps);
  appendFlags(all, optimizerFlags(), FlagTopic::Optimizer);
  appendFlags(all, weightFlags(), FlagTopic::Weights);
  appendFlags(all, checkpointFlags(), FlagTopic::Checkpoints);
  appendFlags(all, evaluationFlags(), FlagTopic::Evaluation);
  appendFlags(all, outputFlags(), FlagTopic::Output);
  appendFlags(all, rankFlags(), FlagTopic::Ranks);
  appendFlags(all, deviceFlags(), FlagTopic::CudaDevices);
  appendFlags(all, sampleFlags(), FlagTopic::Samples);
  appendFlags(all, generalFlags(), FlagTopic::General);
  markCommon(all, {"data",       "val-data",     "val-fraction",
                   "steps",      "epochs",       "accum",
                   "lr",         "lr-schedule",  "warmup",
                   "min-lr",     "weight-decay", "clip",
                   "seed",       "init-from",    "save-dir",
                   "save-every", "resume",       "log-every",
                   "eval-every", "eval-only",    "metrics",
                   "progress",   "threads",      "generate",
                   "dry-run",    "version",      "max-new-tokens",
                   "temperature"});
  for (const auto &more : {configFlags(RunFlag), helpFlags(RunFlag)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}
