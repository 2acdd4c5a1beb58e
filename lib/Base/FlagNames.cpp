//===- FlagNames.cpp - Names of flags and commands ------------------------===//

#include "weft/Base/FlagNames.h"

namespace weft {

const std::vector<FlagName> &flagNames() {
  constexpr bool isSwitch = true;
  static const std::vector<FlagName> names = {
      {"output", DriverFlag, !isSwitch, "o"},
      {"emit", DriverFlag},
      {"dump-dir", DriverFlag},
      {"from", DriverFlag},
      {"to", DriverFlag},
      {"print-pipeline", DriverFlag, isSwitch},
      {"reproducer", DriverFlag},
      {"target", CompileFlag},
      {"batch", CompileFlag},
      {"seq", CompileFlag},
      {"ignore-field", CompileFlag},
      {"precision", CompileFlag},
      {"recipe", CompileFlag},
      {"grad-dtype", CompileFlag},
      {"autocast-lists", CompileFlag},
      {"numerics", CompileFlag},
      {"tf32", CompileFlag, isSwitch},
      {"epilogues", CompileFlag},
      {"loss-scale", CompileFlag},
      {"scaler", CompileFlag},
      {"scaler-init", CompileFlag},
      {"scaler-growth", CompileFlag},
      {"scaler-backoff", CompileFlag},
      {"scaler-interval", CompileFlag},
      {"scaler-hysteresis", CompileFlag},
      {"scaler-consecutive", CompileFlag, isSwitch},
      {"scaler-min", CompileFlag},
      {"master-weights", CompileFlag},
      {"working-copies", CompileFlag},
      {"optimizer", CompileFlag},
      {"nesterov", CompileFlag, isSwitch},
      {"clip-norm", CompileFlag},
      {"groups", CompileFlag},
      {"accumulation", CompileFlag},
      {"mesh", CompileFlag},
      {"zero", CompileFlag},
      {"sync", CompileFlag},
      {"bucket", CompileFlag},
      {"shard-align", CompileFlag},
      {"shard-min", CompileFlag},
      {"shard-rules", CompileFlag},
      {"prefetch", CompileFlag},
      {"prefetch-backward", CompileFlag},
      {"prefetch-max", CompileFlag},
      {"comm-streams", CompileFlag},
      {"reduction", CompileFlag},
      {"reshard", CompileFlag},
      {"reduce-dtype", CompileFlag},
      {"gather-dtype", CompileFlag},
      {"recompute", CompileFlag},
      {"memory-limit", CompileFlag},
      {"device", CompileFlag},
      {"cost-table", CompileFlag},
      {"cluster", CompileFlag},
      {"threads-max", CompileFlag},
      {"attention", CompileFlag},
      {"explain", CompileFlag},
      {"debug-nan", CompileFlag, isSwitch},
      {"data", RunFlag},
      {"val-data", RunFlag},
      {"val-fraction", RunFlag},
      {"data-format", RunFlag},
      {"tokenizer", RunFlag},
      {"shuffle", RunFlag, isSwitch},
      {"steps", RunFlag},
      {"epochs", RunFlag},
      {"stop-after", RunFlag},
      {"accum", RunFlag},
      {"lr", RunFlag},
      {"lr-schedule", RunFlag},
      {"lr-decay-steps", RunFlag},
      {"warmup", RunFlag},
      {"min-lr", RunFlag},
      {"weight-decay", RunFlag},
      {"beta1", RunFlag},
      {"beta2", RunFlag},
      {"eps", RunFlag},
      {"momentum", RunFlag},
      {"clip", RunFlag},
      {"seed", RunFlag},
      {"init-from", RunFlag},
      {"save-dir", RunFlag},
      {"save-every", RunFlag},
      {"keep", RunFlag},
      {"keep-best", RunFlag, isSwitch},
      {"resume", RunFlag},
      {"log-every", RunFlag},
      {"eval-every", RunFlag},
      {"eval-steps", RunFlag},
      {"eval-only", RunFlag, isSwitch},
      {"metrics", RunFlag},
      {"progress", RunFlag},
      {"trace", RunFlag},
      {"dump-grads", RunFlag},
      {"overwrite", RunFlag, isSwitch},
      {"threads", RunFlag},
      {"loopback", RunFlag},
      {"timeout", RunFlag},
      {"check-replicas", RunFlag},
      {"gather", RunFlag},
      {"no-graph", RunFlag, isSwitch},
      {"tune", RunFlag},
      {"tuning", RunFlag},
      {"dry-run", RunFlag, isSwitch},
      {"generate", RunFlag},
      {"max-new-tokens", RunFlag},
      {"temperature", RunFlag},
      {"top-k", RunFlag},
      {"sample-every", RunFlag},
      {"version", RunFlag, isSwitch},
      {"help", RunFlag, isSwitch},
  };
  return names;
}

const FlagName *findFlagName(const std::string &name) {
  for (const FlagName &known : flagNames())
    if (!name.empty() && (name == known.name || name == known.shortName))
      return &known;
  return nullptr;
}

static const ForeignName *findIn(const std::vector<ForeignName> &all,
                                 const std::string &name) {
  for (const ForeignName &entry : all)
    if (name.find('|') == name.npos &&
        ("|" + std::string(entry.names) + "|").find("|" + name + "|") !=
            std::string::npos)
      return &entry;
  return nullptr;
}

const ForeignName *findForeignFlag(const std::string &name) {
  return findIn(foreignFlags(), name);
}

const ForeignName *findForeignCommand(const std::string &name) {
  return findIn(foreignCommands(), name);
}

static std::string withText(std::string answer, const ForeignName &entry) {
  return *entry.text ? std::move(answer) + "; " + entry.text : answer;
}

std::string describeForeign(const ForeignName &flag) {
  return withText(*flag.answer
                      ? "weft's flag is '--" + std::string(flag.answer) + "'"
                      : "weft has none",
                  flag);
}

std::string describeForeignCommand(const ForeignName &command) {
  return withText(*command.answer
                      ? "weft " + std::string(command.answer) + " does that"
                      : "weft has none",
                  command);
}

std::string foreignMarkdown() {
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

} // namespace weft
