//===- FlagNames.cpp - Flags of weft and of other tools -------------------===//
//
// The names that nanoGPT, transformers' Trainer, torchrun, mlx-lm, Lightning
// and similar tools have for what weft calls otherwise, or has not.
//
//===----------------------------------------------------------------------===//

#include "weft/Base/FlagNames.h"

using namespace weft;

static const ForeignName scheduleNames[] = {
    {"learning-rate|base-lr|peak-lr|max-lr", "lr"},
    {"lr-scheduler-type|lr-scheduler|lr-schedule-type|scheduler|decay-lr",
     "lr-schedule"},
    {"lr-decay-iters|decay-steps", "lr-decay-steps"},
    {"warmup-steps|warmup-iters|num-warmup-steps|lr-warmup-steps|"
     "lr-warmup-iters|n-warmup",
     "warmup"},
    {"warmup-ratio|lr-warmup-fraction|warmup-fraction|warmup-epochs", "warmup",
     "it counts steps"},
    {"min-learning-rate|lr-min|eta-min", "min-lr"},
    {"max-iters|max-steps|iters|num-steps|total-steps|train-steps|train-iters|"
     "num-iterations|training-steps|n-steps|num-train-steps|iterations",
     "steps"},
    {"num-train-epochs|num-epochs|max-epochs|n-epochs|train-epochs|epoch",
     "epochs"},
    {"steps-per-epoch", "", "an epoch is all rows of --data: --epochs N"},
    {"early-stopping|early-stopping-patience|patience", "",
     "--keep-best keeps the checkpoint with the lowest validation loss"},
};

static const ForeignName optimizerNames[] = {
    {"optim|optimizer-type|optimiser", "optimizer"},
    {"wd|l2", "weight-decay"},
    {"adam-beta1|b1|betas|beta", "beta1", "--beta2 is the second one"},
    {"adam-beta2|b2", "beta2"},
    {"adam-epsilon|adam-eps|epsilon", "eps"},
    {"max-grad-norm|grad-clip|clip-grad|gradient-clip-val|clip-grad-norm|"
     "gradient-clipping|grad-norm-clip|max-norm",
     "clip"},
    {"ema|use-ema|ema-decay|swa", "", "it keeps no averages of weights"},
    {"dropout|dropout-p", "",
     "dropout is a field of config.json, such as resid_pdrop"},
    {"label-smoothing|label-smoothing-factor", "",
     "the loss belongs to the model: label_smoothing of weft.cross_entropy in "
     "an .mlir file"},
    {"lora|use-lora|lora-rank|lora-r|lora-alpha|lora-dropout|lora-layers|"
     "use-peft|fine-tune-type|peft|qlora",
     "", "it has no adapters; --groups FILE freezes parameters"},
};

static const ForeignName batchNames[] = {
    {"batch-size|per-device-train-batch-size|per-device-batch-size|"
     "micro-batch-size|train-batch-size|device-batch-size|mbs|bs|"
     "per-gpu-train-batch-size|train-micro-batch-size-per-gpu",
     "batch"},
    {"per-device-eval-batch-size|eval-batch-size|val-batch-size", "",
     "evaluations have the rows of --batch"},
    {"global-batch-size|total-batch-size|effective-batch-size", "",
     "it is --batch times --accum times the ranks of --mesh"},
    {"gradient-accumulation-steps|grad-accum|grad-accum-steps|"
     "grad-accumulation-steps|accumulate-grad-batches|gradient-accumulation|"
     "accumulation-steps|accum-steps|accumulate",
     "accum"},
    {"block-size|seq-len|seq-length|max-seq-length|max-seq-len|"
     "context-length|sequence-length|max-length|ctx-len|n-ctx|cutoff-len|"
     "context-size|max-source-length",
     "seq"},
    {"n-layer|n-layers|num-layers|n-head|n-heads|num-heads|n-embd|"
     "hidden-size|hidden-dim|d-model|vocab-size|num-hidden-layers|"
     "num-attention-heads|intermediate-size|depth|embed-dim",
     "", "sizes of the model are fields of its config.json"},
    {"model|model-name-or-path|model-name|model-path|model-config|config-name|"
     "arch",
     "", "the model is the first argument: weft train MODEL"},
    {"weights|init-weights|pretrained|pretrained-model|checkpoint-path",
     "init-from", "FILE is a .safetensors file or a folder"},
};

static const ForeignName dataNames[] = {
    {"dataset|train-file|train-data|training-data|data-path|dataset-name|"
     "input-file|train-data-path|data-dir|train-dataset|train-path|corpus",
     "data", "it is a text, .bin or .safetensors file"},
    {"validation-file|val-file|eval-data|valid-data|eval-file|val-data-path|"
     "validation-data|eval-dataset|valid-file|test-file",
     "val-data"},
    {"val-split|validation-split|validation-split-percentage|val-ratio|"
     "val-size|test-size|train-test-split",
     "val-fraction", "it is a fraction from 0 to 1"},
    {"num-workers|dataloader-num-workers|pin-memory|dataloader-pin-memory|"
     "prefetch-factor|persistent-workers",
     "", "it always reads ahead"},
    {"tokenizer-name|tokenizer-path|tokenizer-model|tokenizer-file", "",
     "weft train uses the tokenizer of the model"},
    {"random-seed|manual-seed|data-seed|rng-seed", "seed"},
    {"shuffle-data|shuffle-dataset", "shuffle"},
};

static const ForeignName evaluationNames[] = {
    {"eval-iters|max-eval-batches|val-batches|limit-val-batches|val-iters|"
     "max-eval-steps|val-max-steps",
     "eval-steps"},
    {"eval-interval|eval-strategy|evaluation-strategy|steps-per-eval|"
     "val-check-interval|val-loss-every|eval-freq|val-interval|"
     "evaluation-steps|val-every",
     "eval-every", "it counts steps"},
    {"do-eval|do-predict|evaluate|validate|test|eval", "eval-only",
     "a run with --val-data also evaluates while it trains"},
    {"do-train|train", "", "weft train trains, unless --eval-only is given"},
    {"tasks", "val-data", "FILE has questions, which weft evaluate scores"},
    {"num-fewshot|fewshot", "", "the prompt of a question has its examples"},
    {"prompt|start|input-prompt", "generate"},
    {"num-samples|n-samples", "",
     "a run prints one sample; --seed draws another"},
    {"max-tokens|max-gen-tokens|num-tokens|n-predict|max-gen-len",
     "max-new-tokens"},
    {"temp", "temperature"},
    {"topk|k", "top-k"},
    {"repeat-penalty", "repetition-penalty"},
    {"stop-strings|stop-string|reverse-prompt", "stop"},
    {"num-beams", "", "--top-k, --top-p and --temperature draw tokens"},
};

static const ForeignName outputNames[] = {
    {"log-interval|logging-steps|print-every|steps-per-report|print-freq|"
     "log-freq|log-every-n-steps|log-steps|logging-interval",
     "log-every"},
    {"wandb|wandb-log|wandb-project|wandb-run-name|report-to|log-file|"
     "run-name|use-wandb",
     "metrics", "FILE gets one JSON object per step"},
    {"logging-dir|tensorboard-dir|log-dir|tb-dir", "tensorboard"},
    {"verbose|show-progress", "progress=line"},
    {"quiet|disable-tqdm|silent|no-progress", "progress=none"},
    {"profiler|use-profiler|profile", "trace",
     "weft inspect PROGRAM --profile reads it"},
    {"out-dir|output-dir|ckpt-dir|checkpoint-dir|save-path|adapter-path|"
     "default-root-dir|checkpoints",
     "save-dir"},
    {"save-interval|save-steps|checkpoint-interval|ckpt-every|"
     "checkpoint-every|save-freq|save-strategy|steps-per-checkpoint|"
     "always-save-checkpoint",
     "save-every", "it counts steps"},
    {"save-total-limit|keep-last|max-checkpoints|keep-last-n", "keep"},
    {"load-best-model-at-end|save-best|save-best-only", "keep-best"},
    {"resume-from-checkpoint|resume-from|load-checkpoint|checkpoint|ckpt|"
     "resume-adapter-file|restore-from|load",
     "resume"},
    {"force|overwrite-existing|allow-overwrite", "overwrite"},
    {"overwrite-output-dir", "",
     "name another --save-dir, or continue with --resume=auto"},
    {"push-to-hub|hub-model-id|hub-token|hub-strategy|trust-remote-code|"
     "use-auth-token",
     "", "models and data are local files"},
};

static const ForeignName precisionNames[] = {
    {"bf16|bfloat16", "precision=bf16"},
    {"fp16|f16|float16|half|amp|use-amp|autocast", "precision=f16",
     "or --precision=bf16"},
    {"fp32|f32|float32", "precision=f32"},
    {"dtype|torch-dtype|mixed-precision|weight-dtype|param-dtype", "precision"},
    {"allow-tf32|use-tf32", "tf32"},
    {"fp8|load-in-4bit|load-in-8bit|quantize|quantization|q-bits|int8", "",
     "--precision is f32, f16 or bf16"},
    {"loss-scaling", "loss-scale"},
    {"init-scale|initial-loss-scale", "scaler-init"},
    {"initial-scale-power", "scaler-init",
     "it takes the scale itself: 65536 for a power of 16"},
    {"gradient-checkpointing|grad-checkpoint|activation-checkpointing|"
     "checkpoint-activations|recompute-activations|use-checkpoint|remat",
     "recompute=blocks"},
    {"flash-attention|use-flash-attn|flash-attn|attn-implementation|flash",
     "attention", "attention is always one fused kernel"},
    {"use-deterministic-algorithms|full-determinism|cudnn-deterministic",
     "deterministic", "on by default"},
    {"torch-compile|jit|use-compile|compile|torchscript", "",
     "every program is compiled"},
    {"cuda-graphs|use-cuda-graphs|cuda-graph", "",
     "programs for CUDA devices use graphs, unless --no-graph is given"},
    {"max-memory|gpu-memory|vram|memory", "memory-limit",
     "such as --memory-limit=8G"},
};

static const ForeignName machineNames[] = {
    {"device=cpu|cpu|no-cuda|use-cpu", "target=cpu", "the default"},
    {"device=cuda|device=gpu|device=mps|device=auto|device-type|"
     "cuda|gpu|use-cuda|accelerator|use-gpu",
     "target", "such as --target=cuda"},
    {"num-threads|n-threads|omp-num-threads|nthreads", "threads"},
    {"nproc-per-node|nproc|num-processes|num-gpus|gpus|ngpu|n-gpus|n-gpu|"
     "world-size|devices|num-devices|gpus-per-node|n-procs",
     "mesh",
     "a program is compiled for its ranks, as in --mesh=dp:4, and weft "
     "launch starts them"},
    {"ddp|ddp-backend|backend|data-parallel|dp|distributed|multi-gpu", "mesh",
     "such as --mesh=dp:4 for four ranks"},
    {"fsdp|zero-stage|deepspeed|sharding-strategy|fsdp-config|strategy", "zero",
     "--zero=3 is FSDP; with --mesh"},
    {"tensor-parallel|tensor-model-parallel-size|tensor-parallel-size|tp|"
     "pipeline-model-parallel-size|pipeline-parallel|pp|sequence-parallel|"
     "context-parallel",
     "", "ranks have rows of their own; --zero shards parameters over them"},
    {"nnodes|num-nodes|node-rank|master-addr|master-port|rdzv-backend|"
     "rdzv-endpoint|rdzv-id|standalone|local-rank|rank|machine-rank|"
     "main-process-port|dist-url|hostfile",
     "", "weft launch, torchrun, srun or mpirun starts the ranks of --mesh"},
    {"max-restarts", "", "programs restart under weft launch --restarts N"},
};

static const ForeignName commandNames[] = {
    {"sample|infer|inference|chat|complete", "generate MODEL --prompt TEXT"},
    {"eval|validate|validation|test|perplexity",
     "evaluate MODEL --val-data FILE"},
    {"score|classify|predictions|loglikelihood",
     "predict MODEL --data FILE -o FILE"},
    {"fit|pretrain|learn|training", "train MODEL --data FILE --steps N"},
    {"fine-tune|finetune|sft|tune",
     "train MODEL --init-from WEIGHTS --data FILE --epochs N"},
    {"resume|continue", "train MODEL --save-dir DIR --resume=auto"},
    {"run|start|exec", "train MODEL",
     "a compiled program runs by itself: ./PROGRAM"},
    {"torchrun|mpirun|distributed|spawn", "launch PROGRAM"},
    {"build|make|cc|lower", "compile MODEL"},
    {"export|convert|save|checkpoint|checkpoints", "ckpt export DIR OUT"},
    {"info|show|describe|stats|summary|memory|dump|print", "inspect PROGRAM"},
    {"benchmark|calibrate|measure", "bench"},
    {"profile|trace", "inspect PROGRAM --profile TRACE",
     "the program's --trace FILE writes it"},
    {"gradcheck|verify|grad", "check MODEL --grad"},
    {"clean|clear|purge", "cache clear"},
    {"version", "--version"},
    {"list|ls", "ckpt ls DIR"},
    {"prepare|preprocess", "data prepare"},
    {"download|pull|push|login|upload", "", "models and data are local files"},
    {"serve|deploy|server", "",
     "a trained model is exported for other tools: "
     "weft ckpt export DIR OUT"},
    {"install|init|new|setup", "",
     "a model file is all that weft train needs: weft train MODEL"},
};

template <size_t N>
static void append(std::vector<ForeignName> &all,
                   const ForeignName (&part)[N]) {
  all.insert(all.end(), part, part + N);
}

const std::vector<ForeignName> &weft::foreignFlags() {
  static const std::vector<ForeignName> all = [] {
    std::vector<ForeignName> list;
    append(list, scheduleNames);
    append(list, optimizerNames);
    append(list, batchNames);
    append(list, dataNames);
    append(list, evaluationNames);
    append(list, outputNames);
    append(list, precisionNames);
    append(list, machineNames);
    return list;
  }();
  return all;
}

const std::vector<ForeignName> &weft::foreignCommands() {
  static const std::vector<ForeignName> all(std::begin(commandNames),
                                            std::end(commandNames));
  return all;
}

const FlagSpec *weft::findFlagName(const std::string &name) {
  static const FlagTable all = [] {
    // Run flags first: --overwrite is a driver flag, too.
    FlagTable table(runFlagSpecs());
    table.add(compileFlags());
    table.add(driverFlags());
    return table;
  }();
  return all.find(name == "o" ? "output" : name);
}

bool weft::isChoice(const std::string &choices, const std::string &text) {
  return !text.empty() && text.find('|') == text.npos &&
         ("|" + choices + "|").find("|" + text + "|") != std::string::npos;
}

static const ForeignName *findIn(const std::vector<ForeignName> &all,
                                 const std::string &name) {
  for (const ForeignName &entry : all)
    if (isChoice(entry.names, name))
      return &entry;
  return nullptr;
}

const ForeignName *weft::findForeignFlag(const std::string &name) {
  return findIn(foreignFlags(), name);
}

const ForeignName *weft::findForeignCommand(const std::string &name) {
  return findIn(foreignCommands(), name);
}

static std::string withText(std::string answer, const ForeignName &entry) {
  return *entry.text ? std::move(answer) + "; " + entry.text : answer;
}

std::string weft::describeForeign(const ForeignName &flag) {
  return withText(*flag.answer
                      ? "weft's flag is '--" + std::string(flag.answer) + "'"
                      : "weft has none",
                  flag);
}

std::string weft::describeForeignCommand(const ForeignName &command) {
  return withText(*command.answer
                      ? "weft " + std::string(command.answer) + " does that"
                      : "weft has none",
                  command);
}

std::string weft::foreignMarkdown() {
  std::string text = "| flag of another tool | weft |\n|---|---|\n";
  for (const ForeignName &entry : foreignFlags()) {
    std::string names = "`--";
    for (const char *c = entry.names; *c; ++c)
      names += *c == '|' ? "`, `--" : std::string(1, *c);
    std::string answer =
        *entry.answer ? "`--" + std::string(entry.answer) + "`" : "none";
    text += "| " + names + "` | " + withText(answer, entry) + " |\n";
  }
  return text;
}

std::string weft::foreignValue(const std::string &text) {
  static const std::pair<const char *, const char *> values[] = {
      {"fp32|float32|float|single|torch.float32", "f32"},
      {"fp16|float16|half|torch.float16|16-mixed", "f16"},
      {"bfloat16|torch.bfloat16|bf16-mixed", "bf16"},
      {"adamw_torch|adamw_torch_fused|adamw_hf", "adamw"},
      {"constant_with_warmup", "constant"},
      {"warmup_stable_decay", "wsd"},
      {"true|yes|1", "on"},
      {"false|no|0", "off"},
  };
  for (const auto &[names, value] : values)
    if (isChoice(names, text))
      return value;
  return "";
}
