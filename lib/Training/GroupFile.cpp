//===- GroupFile.cpp - Parameter groups from a TOML file ------------------===//

#include "GroupFile.h"

#include "weft/Support/TomlFile.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace weft;

/// Whether it is a hyper-parameter.
static bool isNumber(StringRef key) {
  return llvm::is_contained(getOptimizerKeys(), key);
}

namespace {
class GroupReader : TomlReader {
public:
  using TomlReader::TomlReader;

  FailureOr<GroupFile> read();

private:
  FailureOr<ParameterGroup> readGroup(const toml::node &node);
  LogicalResult readKey(ParameterGroup &group, StringRef key,
                        const toml::node &value);
  LogicalResult readOptimizer(ParameterGroup &group, const toml::node &value);
  LogicalResult readName(ParameterGroup &group, const toml::node &value);
  LogicalResult readFlag(std::optional<bool> &target, StringRef key,
                         const toml::node &value);
  LogicalResult readNumber(ParameterGroup &group, StringRef key,
                           const toml::node &value);
  LogicalResult readDecay(ParameterGroup &group, const toml::node &value);
  /// A finite number that is not negative.
  LogicalResult readFactor(std::optional<double> &target, StringRef key,
                           const toml::node &value);
};
} // namespace

LogicalResult GroupReader::readOptimizer(ParameterGroup &group,
                                         const toml::node &value) {
  std::string text = value.value_exact<std::string>().value_or("");
  if (!findOptimizer(text))
    return report(value, "expects `optimizer` to be ")
           << spellOptimizers() << ", but got " << describeToml(value);
  group.optimizer = text;
  return success();
}

/// The name becomes part of a symbol and of a metrics key.
LogicalResult GroupReader::readName(ParameterGroup &group,
                                    const toml::node &value) {
  std::string text = value.value_exact<std::string>().value_or("");
  bool isWord = !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '-';
  });
  if (!isWord || text == "default")
    return report(value, "expects `name` to be letters, digits, - and _, other "
                         "than \"default\", but got ")
           << describeToml(value);
  group.name = text;
  return success();
}

LogicalResult GroupReader::readFlag(std::optional<bool> &target, StringRef key,
                                    const toml::node &value) {
  target = value.value_exact<bool>();
  if (target)
    return success();
  return report(value, "expects `")
         << key << "` to be true or false, but got another type";
}

/// A hyper-parameter instead of the one of the command line.
LogicalResult GroupReader::readNumber(ParameterGroup &group, StringRef key,
                                      const toml::node &value) {
  std::optional<double> number;
  if (failed(readFactor(number, key, value)))
    return failure();
  if (key.starts_with("beta") && *number >= 1)
    return report(value, "expects `")
           << key << "` below 1, but got " << *number;
  group.numbers[key.str()] = *number;
  return success();
}

LogicalResult GroupReader::readFactor(std::optional<double> &target,
                                      StringRef key, const toml::node &value) {
  std::optional<double> number = value.value<double>();
  if (value.is_boolean() || !number || !std::isfinite(*number) || *number < 0)
    return report(value, "expects `")
           << key << "` to be a number that is not negative, but got "
           << (number ? std::to_string(*number) : "another type");
  target = *number;
  return success();
}

LogicalResult GroupReader::readDecay(ParameterGroup &group,
                                     const toml::node &value) {
  if (std::optional<bool> flag = value.value_exact<bool>()) {
    group.decay = *flag ? 1.0 : 0.0;
    return success();
  }
  return readFactor(group.decay, "decay", value);
}

LogicalResult GroupReader::readKey(ParameterGroup &group, StringRef key,
                                   const toml::node &value) {
  if (key == "match")
    return readPattern(key, value, group.match);
  if (key == "optimizer")
    return readOptimizer(group, value);
  if (key == "decay")
    return readDecay(group, value);
  if (key == "lr_scale")
    return readFactor(group.lrScale, key, value);
  if (key == "name")
    return readName(group, value);
  if (key == "frozen")
    return readFlag(group.frozen, key, value);
  if (key == "nesterov")
    return readFlag(group.nesterov, key, value);
  if (isNumber(key))
    return readNumber(group, key, value);
  return report(value,
                "expects match, name, frozen, decay, lr_scale, optimizer, ")
         << spellChoices(getOptimizerKeys()) << ", but got `" << key << "`";
}

FailureOr<ParameterGroup> GroupReader::readGroup(const toml::node &node) {
  Location location = locate(node);
  const toml::table *table = node.as_table();
  if (!table)
    return emitError(location, "expects a table [[group]], but got a value");
  ParameterGroup group(location);
  for (auto &&[key, value] : *table)
    if (failed(readKey(group, key.str(), value)))
      return failure();
  if (group.match.empty())
    return emitError(location, "expects `match` in a group, but got none");
  if (group.optimizer)
    for (auto &&[key, value] : *table)
      if (isNumber(key.str()) &&
          !findOptimizer(*group.optimizer)->takes(key.str()))
        return report(value, "expects a group without `")
               << key.str() << "`, which " << *group.optimizer
               << " does not have";
  return group;
}

FailureOr<GroupFile> GroupReader::read() {
  FailureOr<TomlFile> parsed =
      readTomlFile(context, path, "file of parameter groups");
  if (failed(parsed))
    return failure();
  GroupFile result;
  result.digest = parsed->digest;
  for (auto &&[key, value] : parsed->table) {
    const toml::array *array = value.as_array();
    if (key.str() != "group" || !array)
      return report(value, "expects only tables [[group]], but got `")
             << std::string(key.str()) << "`";
    for (const toml::node &node : *array) {
      FailureOr<ParameterGroup> group = readGroup(node);
      if (failed(group))
        return failure();
      result.groups.push_back(*group);
    }
  }
  if (result.groups.empty())
    return reportNone("a table [[group]] in a file of parameter groups");
  return result;
}

FailureOr<GroupFile> weft::readGroupFile(MLIRContext *context, StringRef path) {
  return GroupReader(context, path).read();
}
