//===- CompileFlagTable.cpp - The tables of compile and driver flags ------===//
//
// A flag that excludes others also needs a check in
// Pipeline/Options/CheckFlags.cpp.
//
//===----------------------------------------------------------------------===//

#include "weft/Base/FlagNames.h"

#include <algorithm>
#include <iterator>

using namespace weft;

static constexpr double kMost = std::numeric_limits<double>::infinity();

/// The machine and the shape of the model.
static const FlagSpec kModelFlags[] = {
    {"target", FlagKind::String, CompileFlag, "cpu", "TARGET",
     "cpu (this machine), cpu:LEVEL (x86-64-v2, -v3, -v4), cuda (the GPU of "
     "this machine), cuda:sm_80, cuda:sm_90, cuda:sm_100, or several chips: "
     "cuda:sm_80,sm_90"},
    withInferenceHelp({"batch", FlagKind::Int, CompileFlag, "", "N",
                       "rows of a micro-batch on each rank", "", 1, kMost},
                      "rows that each rank computes at once"),
    {"seq", FlagKind::Int, CompileFlag, "", "N",
     "tokens per row; default: the positions of the model, at most 1024", "", 1,
     kMost},
    {"predict", FlagKind::Switch, CompileFlag, "", "",
     "compile the program of --predictions: the model's program of kind "
     "predict, or log-likelihoods of a language model"},
    {"inference", FlagKind::Switch, CompileFlag, "", "",
     "leave out training: no gradients and no optimizer states"},
    {"ignore-field", FlagKind::List, CompileFlag, "", "NAME",
     "accept this unknown field of config.json"},
};

/// Types.
static const FlagSpec kPrecisionFlags[] = {
    {"precision", FlagKind::Enum, CompileFlag, "f32", "",
     "type of matrix products and other heavy computation", "f32|f16|bf16"},
    {"recipe", FlagKind::Enum, CompileFlag, "amp", "", "mixed-precision recipe",
     "amp|llm|pure-f16"},
    {"grad-dtype", FlagKind::Enum, CompileFlag, "f32", "",
     "type that gradients of low-precision weights are added in; torch: their "
     "own",
     "f32|torch"},
    {"autocast-lists", FlagKind::String, CompileFlag, "", "FILE",
     "overrides of the autocast policies (TOML)"},
    {"numerics", FlagKind::Enum, CompileFlag, "strict", "",
     "rounding of f16 and bf16: strict after every op, fast only where kernels "
     "store",
     "strict|fast"},
    {"tf32", FlagKind::Switch, CompileFlag, "", "",
     "let CUDA devices round the factors of f32 products to TF32"},
    withInferenceHelp(
        {"epilogues", FlagKind::Enum, CompileFlag, "on", "",
         "let products of CUDA devices compute gelu, its adjoint and bias "
         "gradients",
         "on|off"},
        "let products of CUDA devices compute gelu"),
};

static const FlagSpec kScalerFlags[] = {
    {"loss-scale", FlagKind::String, CompileFlag, "", "MODE",
     "dynamic, none or a fixed number; default: dynamic with "
     "--precision=f16 (512 with the recipe pure-f16), else none"},
    {"scaler", FlagKind::Enum, CompileFlag, "torch", "",
     "policy of the dynamic loss scale",
     "torch|deepspeed|mmcv|deepspeed_fused|colossalai"},
    {"scaler-init", FlagKind::Double, CompileFlag, "", "X",
     "first loss scale; default: 65536, mmcv 2^32"},
    {"scaler-growth", FlagKind::Double, CompileFlag, "2", "X",
     "growth factor of the loss scale"},
    {"scaler-backoff", FlagKind::Double, CompileFlag, "0.5", "X",
     "backoff factor of the loss scale"},
    {"scaler-interval", FlagKind::Int, CompileFlag, "", "N",
     "clean steps before the scale grows; default: torch 2000, the "
     "others 1000"},
    {"scaler-hysteresis", FlagKind::Int, CompileFlag, "", "N",
     "overflows before the scale shrinks; default: 1, deepspeed and "
     "colossalai 2"},
    {"scaler-consecutive", FlagKind::Switch, CompileFlag, "", "",
     "deepspeed: every clean step refills the hysteresis"},
    {"scaler-min", FlagKind::Double, CompileFlag, "", "X",
     "least loss scale; default: torch and colossalai 0, the others 1"},
};

/// Types of weights, in addition to kPrecisionFlags.
static const FlagSpec kWeightTypeFlags[] = {
    {"master-weights", FlagKind::Enum, CompileFlag, "on", "",
     "keep f32 weights in addition to low-precision ones", "on|off"},
    {"working-copies", FlagKind::Enum, CompileFlag, "on", "",
     "keep low-precision copies of weights from step to step; off: cast them "
     "in each program",
     "on|off"},
};

/// The update of the parameters.
static const FlagSpec kTrainingFlags[] = {
    {"optimizer", FlagKind::Enum, CompileFlag, "adamw", "",
     "update rule, with PyTorch's arithmetic", "adamw|adam|sgd"},
    {"nesterov", FlagKind::Switch, CompileFlag, "", "",
     "Nesterov momentum (sgd)"},
    {"clip-norm", FlagKind::Enum, CompileFlag, "2", "",
     "p of the gradient norm that --clip limits", "1|2|3|inf"},
    {"groups", FlagKind::String, CompileFlag, "", "FILE",
     "parameter groups by regular expression (TOML)"},
    {"accumulation", FlagKind::Enum, CompileFlag, "on", "",
     "on: the program takes any --accum K; off: only 1", "on|off"},
};

/// Ranks and what travels between them.
static const FlagSpec kDistributionFlags[] = {
    {"mesh", FlagKind::String, CompileFlag, "", "AXES",
     "ranks, such as dp:4 or replica:2,shard:2"},
    withInferenceHelp(
        {"zero", FlagKind::Int, CompileFlag, "0", "STAGE",
         "ZeRO stage: shard nothing (0), optimizer states (1), gradients too "
         "(2), parameters too (3)",
         "", 0, 3},
        "ZeRO stage: 3 shards parameters, the others replicate them"),
    {"sync", FlagKind::Enum, CompileFlag, "last", "",
     "micro-steps that reduce gradients: each, or the last of a step",
     "each|last"},
    {"bucket", FlagKind::String, CompileFlag, "", "RULE",
     "parameters that share a flat state: a block (scope), adjacent parameters "
     "of at most N bytes (bytes:N), a module of at least N elements "
     "(params:N), or none; default: scope for cuda and with --mesh, else none"},
    {"shard-align", FlagKind::Int, CompileFlag, "128", "N",
     "alignment of parameters in a flat state, in elements", "", 1, 1 << 20},
    {"shard-min", FlagKind::Int, CompileFlag, "0", "N",
     "replicate parameters with fewer elements at every stage", "", 0, kMost},
    {"shard-rules", FlagKind::String, CompileFlag, "", "FILE",
     "rules for the parameters that a stage may shard, by regular expression "
     "(TOML)"},
    {"prefetch", FlagKind::Int, CompileFlag, "1", "K",
     "prefetch depth: units gathered before their use, and reductions in "
     "flight",
     "", 0, 64},
    {"prefetch-backward", FlagKind::Int, CompileFlag, "", "K",
     "prefetch depth of the backward pass; default: --prefetch", "", 0, 64},
    {"prefetch-max", FlagKind::Int, CompileFlag, "", "N",
     "largest prefetch depth, for gathers with exposed time in the estimates; "
     "default: --prefetch",
     "", 1, 64},
    {"comm-streams", FlagKind::Enum, CompileFlag, "auto", "",
     "streams of gathers and reductions; with 1 they wait for each other; "
     "auto: 1 for CUDA devices, 2 for the CPU",
     "auto|1|2"},
    {"reduction", FlagKind::Enum, CompileFlag, "auto", "",
     "sums of gradients on CUDA devices: ordered (by weft, in rank order) or "
     "native (by NCCL); auto: native between nodes of --cluster (without it: "
     "between replicas)",
     "auto|ordered|native"},
    {"reshard", FlagKind::String, CompileFlag, "on", "on|off|MODULES",
     "free gathered parameters after the forward pass and gather them again: "
     "all (on), none (off), or only some modules (h.0,h.1)"},
    {"reduce-dtype", FlagKind::Enum, CompileFlag, "auto", "",
     "type that gradients are reduced in; auto: their own",
     "auto|f32|f16|bf16"},
    withInferenceHelp(
        {"gather-dtype", FlagKind::Enum, CompileFlag, "auto", "",
         "type that wider trained parameters are gathered in; auto: their own",
         "auto|f32|f16|bf16"},
        "type that wider parameters are gathered in; auto: their own"),
};

/// Passes and dialects of plug-ins.
static const FlagSpec kPluginFlags[] = {
    {"load-pass-plugin", FlagKind::List, CompileFlag, "", "FILE",
     "load the passes and dialects of an MLIR plug-in"},
    {"add-pass", FlagKind::List, CompileFlag, "", "PHASE:PIPELINE",
     "run passes at the end of a phase, in the syntax of weft-opt "
     "--pass-pipeline"},
};

static const FlagSpec kMemoryFlags[] = {
    {"kv-cache", FlagKind::Enum, CompileFlag, "off", "",
     "keep keys and values of a sample in memory, so that a token computes one "
     "position; auto: where the model allows it",
     "on|off|auto"},
    {"recompute", FlagKind::String, CompileFlag, "none", "RULE",
     "values that the backward pass recomputes: none, blocks, every:N blocks, "
     "or bytes:N, the cheapest that free N bytes"},
    {"dropout-bits", FlagKind::Enum, CompileFlag, "auto", "",
     "dropout of attention on CUDA devices: the forward pass stores which "
     "scores it keeps, a bit each, or the backward pass draws the random "
     "numbers again; auto: store, unless a memory limit needs the bytes",
     "auto|store|draw"},
    withInferenceHelp(
        {"loss-chunks", FlagKind::String, CompileFlag, "1", "N|auto",
         "compute logits, their losses and gradients in N chunks of rows; "
         "auto: more than one only where a memory limit needs it"},
        "compute logits and their losses in N chunks of rows; auto: more than "
        "one only where a memory limit needs it"),
    withInferenceHelp(
        {"memory-limit", FlagKind::Bytes, CompileFlag, "", "BYTES",
         "memory of the program: choose --recompute, --reshard, --dropout-bits "
         "and --loss-chunks=auto unless given, or fail (exit 4); K, M, G are "
         "accepted"},
        "memory of the program: fail if it needs more (exit 4); K, M, G are "
        "accepted"),
    {"device", FlagKind::Enum, CompileFlag, "", "",
     "use the memory of this CUDA device as --memory-limit",
     "a100|a100-80g|h100|h100-nvl|h200|b200"},
};

/// Estimates, and choices that change the time of a step.
static const FlagSpec kSpeedFlags[] = {
    {"cost-table", FlagKind::String, CompileFlag, "", "FILE",
     "rates of the machine, for estimates (TOML)"},
    {"cluster", FlagKind::String, CompileFlag, "", "FILE",
     "nodes and links of the ranks, for estimates (TOML)"},
    {"threads-max", FlagKind::Int, CompileFlag, "", "N",
     "most threads of the program; default: this machine's processors, 16 for "
     "a level",
     "", 1, 1024},
    {"attention", FlagKind::Enum, CompileFlag, "auto", "",
     "attention on CUDA devices: own kernels or cuDNN; auto: cuDNN where it "
     "fits, and own kernels where the machine has none",
     "auto|own|cudnn"},
    {"deterministic", FlagKind::Enum, CompileFlag, "on", "",
     "off: gradients of attention may differ from run to run where equal ones "
     "would take cuDNN more than a tenth of the device's memory",
     "on|off"},
};

static const FlagSpec kDiagnosisFlags[] = {
    {"explain", FlagKind::Enum, CompileFlag, "", "",
     "name the rule behind each decision",
     "precision|schedule|fusion|sharding|attention"},
    {"debug-nan", FlagKind::Switch, CompileFlag, "", "",
     "name the first op that makes a non-finite value"},
};

const std::vector<FlagSpec> &weft::compileFlags() {
  static const std::vector<FlagSpec> flags = [] {
    std::vector<FlagSpec> all;
    appendFlags(all, kModelFlags, FlagTopic::Model);
    appendFlags(all, kPrecisionFlags, FlagTopic::Precision);
    appendFlags(all, kScalerFlags, FlagTopic::LossScale);
    appendFlags(all, kWeightTypeFlags, FlagTopic::Precision);
    appendFlags(all, kTrainingFlags, FlagTopic::Optimizer);
    appendFlags(all, kDistributionFlags, FlagTopic::Sharding);
    appendFlags(all, kMemoryFlags, FlagTopic::Memory);
    appendFlags(all, kSpeedFlags, FlagTopic::Speed);
    appendFlags(all, kDiagnosisFlags, FlagTopic::Diagnosis);
    appendFlags(all, kPluginFlags, FlagTopic::PlugIns);
    markCommon(all, {"target", "batch", "seq", "predict", "inference",
                     "precision", "optimizer", "groups", "mesh", "zero",
                     "recompute", "memory-limit"});
    for (FlagSpec &spec : all)
      if (spec.valueName == std::string_view("FILE"))
        spec.file = FlagFile::Read;
    return all;
  }();
  return flags;
}

bool weft::onlyTrains(const std::string &name) {
  constexpr std::string_view flags[] = {
      "optimizer",    "nesterov",      "clip-norm",         "groups",
      "accumulation", "recompute",     "grad-dtype",        "loss-scale",
      "sync",         "reshard",       "prefetch-backward", "reduce-dtype",
      "reduction",    "deterministic", "dropout-bits"};
  return name.rfind("scaler", 0) == 0 ||
         std::find(std::begin(flags), std::end(flags), name) != std::end(flags);
}

static const FlagSpec kOutputFlags[] = {
    {"output", FlagKind::String, DriverFlag, "", "FILE",
     "file for the result; default: the model's name, or for text standard "
     "output, which - names",
     "", -kMost, kMost, "o", FlagFile::Written},
    {"emit", FlagKind::Enum, DriverFlag, "exe", "", "kind of output",
     "graph|dist|plan|llvm|ptx|obj|exe|timeline"},
    {"overwrite", FlagKind::Switch, DriverFlag, "", "",
     "let outputs replace files that weft did not write"},
};

static const FlagSpec kPhaseFlags[] = {
    {"dump-dir", FlagKind::String, DriverFlag, "", "DIR",
     "write the module after every phase that has passes: "
     "DIR/NN-phase.mlir"},
    {"from", FlagKind::String, DriverFlag, "", "PHASE",
     "MODEL is a dump written after PHASE: continue with the next phase"},
    {"to", FlagKind::String, DriverFlag, "", "PHASE",
     "stop after PHASE and write the module"},
    {"print-pipeline", FlagKind::Switch, DriverFlag, "", "",
     "print the passes as text that weft-opt accepts"},
    {"reproducer", FlagKind::String, DriverFlag, "", "FILE",
     "file for the module and the remaining passes if a pass fails", "", -kMost,
     kMost, "", FlagFile::Written},
};

const std::vector<FlagSpec> &weft::driverFlags() {
  static const std::vector<FlagSpec> flags = [] {
    std::vector<FlagSpec> all;
    appendFlags(all, kOutputFlags, FlagTopic::Output);
    appendFlags(all, kPhaseFlags, FlagTopic::Phases);
    markCommon(all, {"output", "emit"});
    return all;
  }();
  return flags;
}
