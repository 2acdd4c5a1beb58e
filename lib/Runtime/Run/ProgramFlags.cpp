//===- ProgramFlags.cpp - The flags of one program ------------------------===//

#include "weft/Runtime/Run/RunFlags.h"

#include <algorithm>

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

std::string weft::runHelp(const Metadata &metadata,
                          const std::string &program) {
  const std::vector<std::string_view> others = flagsOfOthers(metadata);
  std::vector<FlagSpec> specs = specsFor(metadata);
  specs.erase(std::remove_if(specs.begin(), specs.end(),
                             [&](const FlagSpec &spec) {
                               return std::count(others.begin(), others.end(),
                                                 spec.name) != 0;
                             }),
              specs.end());
  return "usage: " + program + " --data FILE --steps N [flags]\n" +
         metadata.name + ", compiled by weft " + metadata.version + "\n\n" +
         FlagTable(specs).help(RunFlag);
}

/// "dp:4" or "replica:2,shard:2".
static std::string meshText(const Metadata &metadata) {
  std::string text;
  for (const MeshAxis &axis : metadata.mesh)
    text += (text.empty() ? "" : ",") + axis.name + ":" +
            std::to_string(axis.ranks);
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
  flags["accumulation"] = metadata.accumulation ? "on" : "off";
  if (metadata.optimizers.size() == 1)
    flags["optimizer"] = metadata.optimizers.front();
  if (!metadata.mesh.empty())
    flags["mesh"] = meshText(metadata);
  return flags;
}
