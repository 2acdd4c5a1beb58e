//===- ShardRuleFile.cpp - Rules of sharding from a TOML file -------------===//

#include "ShardRules.h"

#include "weft/Support/TomlFile.h"

using namespace mlir;
using namespace weft;

namespace {
class ShardRuleReader : TomlReader {
public:
  using TomlReader::TomlReader;

  FailureOr<std::vector<ShardRule>> read();

private:
  FailureOr<ShardRule> readRule(const toml::node &node);
  LogicalResult readKey(ShardRule &rule, StringRef key,
                        const toml::node &value);
  LogicalResult readTrainable(ShardRule &rule, const toml::node &value);
  LogicalResult readLayout(ShardRule &rule, const toml::node &value);
};
} // namespace

LogicalResult ShardRuleReader::readTrainable(ShardRule &rule,
                                             const toml::node &value) {
  rule.trainable = value.value_exact<bool>();
  if (rule.trainable)
    return success();
  return report(value, "expects `trainable` to be true or false, but got ")
         << describeToml(value);
}

LogicalResult ShardRuleReader::readLayout(ShardRule &rule,
                                          const toml::node &value) {
  rule.layout =
      dist::symbolizePlacement(value.value_exact<std::string>().value_or(""));
  if (rule.layout)
    return success();
  return report(value, "expects `layout` to be sharded or replicated, but got ")
         << describeToml(value);
}

LogicalResult ShardRuleReader::readKey(ShardRule &rule, StringRef key,
                                       const toml::node &value) {
  if (key == "match")
    return readPattern(key, value, rule.match);
  if (key == "scope")
    return readPattern(key, value, rule.scope);
  if (key == "trainable")
    return readTrainable(rule, value);
  if (key == "layout")
    return readLayout(rule, value);
  return report(value, "expects match, scope, trainable or layout, but got `")
         << key << "`";
}

FailureOr<ShardRule> ShardRuleReader::readRule(const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return report(node, "expects a table [[rule]], but got a value");
  ShardRule rule(locate(node));
  rule.place = (path + ":" + Twine(node.source().begin.line)).str();
  for (auto &&[key, value] : *table)
    if (failed(readKey(rule, key.str(), value)))
      return failure();
  if (!rule.layout)
    return report(node, "expects `layout` in a rule, but got none");
  if (rule.match.empty() && rule.scope.empty() && !rule.trainable)
    return report(node, "expects `match`, `scope` or `trainable` in a rule, "
                        "but got none");
  return rule;
}

FailureOr<std::vector<ShardRule>> ShardRuleReader::read() {
  FailureOr<TomlFile> parsed =
      readTomlFile(context, path, "file of shard rules");
  if (failed(parsed))
    return failure();
  std::vector<ShardRule> rules;
  for (auto &&[key, value] : parsed->table) {
    const toml::array *array = value.as_array();
    if (key.str() != "rule" || !array)
      return report(value, "expects only tables [[rule]], but got `")
             << std::string(key.str()) << "`";
    for (const toml::node &node : *array) {
      FailureOr<ShardRule> rule = readRule(node);
      if (failed(rule))
        return failure();
      rules.push_back(*rule);
    }
  }
  if (rules.empty())
    return reportNone("a table [[rule]] in a file of shard rules");
  return rules;
}

FailureOr<std::vector<ShardRule>> weft::readShardRules(MLIRContext *context,
                                                       StringRef path) {
  return ShardRuleReader(context, path).read();
}
