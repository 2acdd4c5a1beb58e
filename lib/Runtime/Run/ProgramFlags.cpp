//===- ProgramFlags.cpp - The flags of one program ------------------------===//

#include "weft/Runtime/Run/RunFlags.h"

#include <algorithm>
#include <cstdlib>

using namespace weft;

std::vector<FlagSpec> weft::specsFor(const Metadata &metadata) {
  std::vector<FlagSpec> specs = runFlagSpecs();
  for (FlagSpec &spec : specs) {
    auto found = metadata.defaults.find(spec.name);
    if (found != metadata.defaults.end())
      spec.defaultText = found->second.c_str();
  }
  return specs;
}

bool weft::isForCuda(const Metadata &metadata) {
  return metadata.target.rfind("cuda", 0) == 0;
}

std::vector<std::string_view> weft::flagsOfOthers(const Metadata &metadata) {
  if (isForCuda(metadata))
    return {"threads"};
  return {"gather", "no-graph", "tune", "tuning"};
}

std::string weft::runHelp(const Metadata &metadata, const std::string &program,
                          const HelpLayout &layout) {
  const std::vector<std::string_view> others = flagsOfOthers(metadata);
  std::vector<FlagSpec> specs = specsFor(metadata);
  specs.erase(std::remove_if(specs.begin(), specs.end(),
                             [&](const FlagSpec &spec) {
                               return std::count(others.begin(), others.end(),
                                                 spec.name) != 0;
                             }),
              specs.end());
  const bool trains = !metadata.optimizers.empty();
  if (!trains)
    specs = flagsWithoutTraining(std::move(specs));
  return "usage: " + program +
         (trains ? " --data FILE --steps N [flags]\n"
                 : " --eval-only --val-data FILE [flags]\n") +
         metadata.name + ", compiled by weft " + metadata.version + "\n\n" +
         FlagTable(specs).help(RunFlag, layout);
}

/// "dp:4" or "replica:2,shard:2".
static std::string meshText(const Metadata &metadata) {
  std::string text;
  for (const MeshAxis &axis : metadata.mesh)
    text += concat(text.empty() ? "" : ",", axis.name, ":", axis.ranks);
  return text;
}

std::map<std::string, std::string>
weft::compiledFlags(const Metadata &metadata) {
  std::map<std::string, std::string> flags(metadata.options.begin(),
                                           metadata.options.end());
  flags["batch"] = std::to_string(metadata.batch);
  if (metadata.seq > 0)
    flags["seq"] = std::to_string(metadata.seq);
  flags["target"] = metadata.target;
  // A program without training has no optimizers.
  if (!metadata.optimizers.empty())
    flags["accumulation"] = metadata.accumulation ? "on" : "off";
  if (metadata.optimizers.size() == 1)
    flags["optimizer"] = metadata.optimizers.front();
  if (!metadata.mesh.empty())
    flags["mesh"] = meshText(metadata);
  return flags;
}

/// Whether two texts are the same value of a flag: "1e-3" is "0.001".
static bool isSameValue(const FlagSpec &spec, const std::string &a,
                        const std::string &b) {
  const bool isNumber =
      spec.kind == FlagKind::Int || spec.kind == FlagKind::Double;
  return a == b || (isNumber && std::strtod(a.c_str(), nullptr) ==
                                    std::strtod(b.c_str(), nullptr));
}

Status weft::checkCompiledFlags(const FlagValues &flags,
                                const Metadata &metadata) {
  const std::map<std::string, std::string> compiled = compiledFlags(metadata);
  for (const RunFileValue &value : flags.unusedOfFile()) {
    const FlagSpec *spec = findFlagName(value.name);
    auto found = compiled.find(value.name);
    // A file has a digest in place of its path.
    if (!spec || spec->group != CompileFlag || spec->file != FlagFile::None ||
        found == compiled.end() ||
        isSameValue(*spec, value.text, found->second))
      continue;
    return usageError("flag '--", value.name, "' expects ", found->second,
                      ", which the program was compiled with, but got ",
                      inQuotes(value.text))
        .at(value.place)
        .hint("weft compile MODEL --config FILE makes a program with it");
  }
  return Status::success();
}

//===- Several ranks ------------------------------------------------------===//

/// As many ranks as the mesh has run the program, or none does. Without
/// --loopback they are processes.
static Status checkLoopback(int64_t ranks, int64_t loopback) {
  const std::string got = std::to_string(loopback);
  if (ranks > 1 && loopback != 0 && loopback != ranks)
    return usageError("--loopback expects ", ranks,
                      ", the ranks of the mesh of the program, but got ", got);
  if (ranks == 1 && loopback > 1)
    return usageError(
               "--loopback expects 1 for a program of one rank, but got ", got)
        .hint("compile with --mesh=dp:" + got);
  return Status::success();
}

Status weft::checkRankFlags(const FlagValues &flags, const Metadata &metadata,
                            const RunOptions &options) {
  const int64_t ranks = metadata.ranks();
  if (Status s = checkLoopback(ranks, options.loopback); !s)
    return s;
  if (ranks > 1 && !options.tune.empty())
    return usageError("--tune expects a program of one rank, but got one of ",
                      ranks)
        .hint("compile it without --mesh: a rank has the same products");
  if (ranks == 1 && flags.isSet("timeout") && !options.generate)
    return usageError("--timeout expects a program of several ranks or "
                      "--generate: one rank waits for a tokenizer only");
  if (ranks == 1 && flags.isSet("gather"))
    return usageError("--gather expects a program of several ranks: one rank "
                      "has all parameters");
  if (options.loopback > 1 && flags.isSet("gather"))
    return usageError(
        "--gather expects ranks that are processes, but got --loopback ",
        options.loopback);
  if (ranks == 1 && flags.isSet("check-replicas"))
    return usageError("--check-replicas expects a program of several ranks: "
                      "one rank has no replicas");
  return Status::success();
}
