//===- ValueRules.cpp - Values of flags of other commands -----------------===//

#include "ValueRules.h"

namespace weft {

static FlagSpec choice(const char *name, FlagGroup group, const char *choices) {
  return {name, FlagKind::Enum, group, "", "", "", choices};
}

static FlagSpec integer(const char *name, double least,
                        double most = std::numeric_limits<double>::infinity()) {
  return {name, FlagKind::Int, CompileFlag, "", "", "", "", least, most};
}

static FlagSpec anyNumber(const char *name, FlagKind kind) {
  return {name, kind, CompileFlag, "", "", ""};
}

static std::vector<FlagSpec> valueRules() {
  return {
      choice("precision", CompileFlag, "f32|f16|bf16"),
      choice("recipe", CompileFlag, "amp|llm|pure-f16"),
      choice("grad-dtype", CompileFlag, "f32|torch"),
      choice("numerics", CompileFlag, "strict|fast"),
      choice("epilogues", CompileFlag, "on|off"),
      choice("scaler", CompileFlag,
             "torch|deepspeed|mmcv|deepspeed_fused|colossalai"),
      choice("master-weights", CompileFlag, "on|off"),
      choice("working-copies", CompileFlag, "on|off"),
      choice("optimizer", CompileFlag, "adamw|adam|sgd"),
      choice("clip-norm", CompileFlag, "1|2|3|inf"),
      choice("accumulation", CompileFlag, "on|off"),
      choice("sync", CompileFlag, "each|last"),
      choice("reduce-dtype", CompileFlag, "auto|f32|f16|bf16"),
      choice("gather-dtype", CompileFlag, "auto|f32|f16|bf16"),
      choice("comm-streams", CompileFlag, "auto|1|2"),
      choice("reduction", CompileFlag, "auto|ordered|native"),
      choice("device", CompileFlag, "a100|a100-80g|h100|h100-nvl|h200|b200"),
      choice("attention", CompileFlag, "auto|own|cudnn"),
      choice("explain", CompileFlag, "precision|schedule|fusion|sharding"),
      choice("lr-schedule", RunFlag, "constant|linear|cosine|wsd"),
      choice("data-format", RunFlag, "auto|text|u16|u32"),
      choice("tokenizer", RunFlag, "auto|bytes"),
      choice("progress", RunFlag, "auto|bar|line|json|none"),
      choice("gather", RunFlag, "auto|sm|ce"),
      integer("batch", 1),
      integer("seq", 1),
      anyNumber("scaler-init", FlagKind::Double),
      anyNumber("scaler-growth", FlagKind::Double),
      anyNumber("scaler-backoff", FlagKind::Double),
      anyNumber("scaler-interval", FlagKind::Int),
      anyNumber("scaler-hysteresis", FlagKind::Int),
      anyNumber("scaler-min", FlagKind::Double),
      anyNumber("memory-limit", FlagKind::Bytes),
      integer("zero", 0, 3),
      integer("shard-align", 1, 1 << 20),
      integer("shard-min", 0),
      integer("prefetch", 0, 64),
      integer("prefetch-backward", 0, 64),
      integer("prefetch-max", 1, 64),
      integer("threads-max", 1, 1024),
  };
}

const FlagSpec *findValueRule(const std::string &name) {
  static const std::vector<FlagSpec> rules = valueRules();
  for (const FlagSpec &rule : rules)
    if (name == rule.name)
      return &rule;
  return nullptr;
}

} // namespace weft
