//===- ClusterFile.cpp - Nodes and links of a cluster in a file -----------===//

#include "weft/Schedule/ClusterFile.h"

#include "weft/Schedule/CostTableFile.h"

#include "CostTableReader.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace weft;

namespace {
class ClusterReader : TomlReader {
public:
  ClusterReader(MLIRContext *context, StringRef path, StringRef target)
      : TomlReader(context, path), target(target) {}

  FailureOr<ClusterFile> read();

private:
  LogicalResult readTable(const toml::table &table);
  LogicalResult readEntry(StringRef name, const toml::node &value);
  LogicalResult readRanks(const toml::node &value);
  LogicalResult readShare(const toml::node &value);
  LogicalResult readAlgorithm(const toml::node &value);
  LogicalResult readLink(StringRef name, const toml::node &value,
                         std::optional<ClusterLink> &link);
  LogicalResult readCostsIn(const toml::node &value);

  ClusterFile file;
  StringRef target; // of the program; "" if there is none
};
} // namespace

static constexpr StringLiteral kKeys =
    "target, ranks_per_node, ranks_per_core, algorithm, node, network or "
    "costs";

/// A number as text, or what else it is.
static std::string describeNumber(const toml::node &value) {
  if (value.is_integer())
    return std::to_string(*value.value<int64_t>());
  if (value.is_floating_point())
    return std::to_string(*value.value<double>());
  return describeToml(value);
}

LogicalResult ClusterReader::readRanks(const toml::node &value) {
  const int64_t number =
      value.is_integer() ? value.value<int64_t>().value_or(0) : 0;
  if (number < 1 || number > 100000)
    return report(value) << "expects `ranks_per_node` to be an integer "
                            "from 1 to 100000, but got "
                         << describeNumber(value);
  file.cluster.ranksPerNode = number;
  return success();
}

LogicalResult ClusterReader::readShare(const toml::node &value) {
  double &share = file.cluster.ranksPerCore;
  if (failed(readNumber(context, path, "ranks_per_core", value, share)))
    return failure();
  if (share >= 1)
    return success();
  return report(value) << "expects `ranks_per_core` to be at least 1, but "
                          "got "
                       << describeNumber(value);
}

LogicalResult ClusterReader::readAlgorithm(const toml::node &value) {
  const std::string text = value.value<std::string>().value_or("");
  auto algorithm = StringSwitch<std::optional<GatherAlgorithm>>(text)
                       .Case("ring", GatherAlgorithm::Ring)
                       .Case("direct", GatherAlgorithm::Direct)
                       .Case("hierarchical", GatherAlgorithm::Hierarchical)
                       .Default(std::nullopt);
  if (!algorithm)
    return report(value) << "expects `algorithm` to be \"ring\", \"direct\" or "
                            "\"hierarchical\", but got "
                         << describeToml(value);
  file.cluster.algorithm = *algorithm;
  return success();
}

LogicalResult ClusterReader::readLink(StringRef name, const toml::node &value,
                                      std::optional<ClusterLink> &link) {
  const toml::table *table = value.as_table();
  if (!table)
    return report(value) << "expects `" << name
                         << "` to be a table of a link, but got "
                         << describeToml(value);
  link.emplace();
  for (auto &&[key, rate] : *table) {
    StringRef entry(key.str());
    double *number =
        StringSwitch<double *>(entry)
            .Case("gigabytes_per_second", &link->gigabytesPerSecond)
            .Case("latency_us", &link->latencyUs)
            .Default(nullptr);
    if (!number)
      return report(rate)
             << "expects gigabytes_per_second or latency_us, but got `" << entry
             << "`";
    if (failed(readNumber(context, path, entry, rate, *number)))
      return failure();
  }
  if (table->contains("gigabytes_per_second") && table->contains("latency_us"))
    return success();
  return report(value) << "expects gigabytes_per_second and latency_us in `"
                       << name << "`";
}

LogicalResult ClusterReader::readCostsIn(const toml::node &value) {
  const toml::table *table = value.as_table();
  if (!table)
    return report(value) << "expects `costs` to be a cost table, but got "
                         << describeToml(value);
  FailureOr<CostTable> costs =
      readCosts(context, path, *table, target, /*isFile=*/false);
  if (failed(costs))
    return failure();
  file.costs = std::move(*costs);
  return success();
}

LogicalResult ClusterReader::readEntry(StringRef name,
                                       const toml::node &value) {
  MachineCluster &cluster = file.cluster;
  if (name == kTargetKey)
    return readTarget(context, path, value, target);
  if (name == "ranks_per_node")
    return readRanks(value);
  if (name == "ranks_per_core")
    return readShare(value);
  if (name == "algorithm")
    return readAlgorithm(value);
  if (name == "node")
    return readLink(name, value, cluster.node);
  if (name == "network")
    return readLink(name, value, cluster.network);
  if (name == "costs")
    return readCostsIn(value);
  return report(value) << "expects " << kKeys << ", but got `" << name << "`";
}

LogicalResult ClusterReader::readTable(const toml::table &table) {
  for (auto &&[key, value] : table)
    if (failed(readEntry(key.str(), value)))
      return failure();
  const toml::node *network = table.get("network");
  if (network && !file.cluster.node)
    return report(*network) << "expects `network` only with a `node`";
  if (target.empty() || table.contains(kTargetKey.str()))
    return success();
  InFlightDiagnostic error = reportMissingTarget(context, path, target);
  error.attachNote() << "write `target = \"" << target
                     << "\"` at its top if the cluster is of such machines";
  return error;
}

FailureOr<ClusterFile> ClusterReader::read() {
  FailureOr<TomlFile> toml = readTomlFile(context, path, "cluster");
  if (failed(toml))
    return failure();
  if (toml->table.empty())
    return reportNone(Twine(kKeys) + " in a cluster");
  if (failed(readTable(toml->table)))
    return failure();
  return std::move(file);
}

FailureOr<ClusterFile> weft::readClusterFile(MLIRContext *context,
                                             StringRef path, StringRef target) {
  return ClusterReader(context, path, target).read();
}
