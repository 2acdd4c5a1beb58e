//===- CastPolicies.cpp - The cast policy of each op ----------------------===//

#include "CastPolicies.h"

#include "weft/Precision/Passes.h"
#include "weft/Support/TomlFile.h"

#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace weft;

std::string weft::castTableName(OperationName op, const CastRule &rule) {
  std::string name = op.stripDialect().str();
  return rule.variant.empty() ? name : name + " " + rule.variant.str();
}

static bool finds(StringRef regex, StringRef text) {
  return regex.empty() || llvm::Regex(regex).match(text);
}

CastDecision CastPolicies::decide(CastPolicyOpInterface op) {
  std::string name = castTableName(op->getName(), op.getCastRule());
  const CastOverride *chosen = nullptr;
  for (CastOverride &entry : overrides) {
    if (!finds(entry.op, name) || !finds(entry.scope, getScope(op)))
      continue;
    entry.matches = true;
    if (!chosen) {
      entry.claims = true;
      chosen = &entry;
    }
  }
  if (chosen)
    return {*chosen->policy, chosen->place, /*isOverride=*/true};
  if (std::optional<CastPolicy> policy = op.getCastRule().under(recipe))
    return {*policy, ("the recipe " + stringifyCastRecipe(recipe)).str()};
  return {op.getCastRule().under(lists),
          ("the " + stringifyCastLists(lists) + " lists").str()};
}

LogicalResult CastPolicies::checkOverrides() const {
  for (const CastOverride &entry : overrides) {
    if (entry.claims)
      continue;
    InFlightDiagnostic error = emitError(entry.location);
    if (entry.matches)
      error << "expects an override with an op of its own, but earlier "
               "overrides claim all that it finds";
    else
      error << "expects an override to find an op of the model, but";
    if (!entry.matches && !entry.op.empty())
      error << " op \"" << entry.op << "\"";
    if (!entry.matches && !entry.scope.empty())
      error << " scope \"" << entry.scope << "\"";
    if (!entry.matches)
      error << " finds none";
    return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The file of overrides
//===----------------------------------------------------------------------===//

namespace {
class OverrideReader : TomlReader {
public:
  using TomlReader::TomlReader;

  FailureOr<OverrideFile> read();

private:
  LogicalResult readTop(OverrideFile &target, StringRef key,
                        const toml::node &value);
  LogicalResult readLists(OverrideFile &target, const toml::node &value);
  FailureOr<CastOverride> readOverride(const toml::node &node);
  LogicalResult readKey(CastOverride &entry, StringRef key,
                        const toml::node &value);
  LogicalResult readPolicy(CastOverride &entry, const toml::node &value);
};
} // namespace

LogicalResult OverrideReader::readPolicy(CastOverride &entry,
                                         const toml::node &value) {
  std::string text = value.value_exact<std::string>().value_or("");
  std::optional<CastPolicy> policy = symbolizeCastPolicy(text);
  // A caller's dtype wins over f32 as well; nothing needs a ban of its own.
  if (!policy || *policy == CastPolicy::F32SetDtype ||
      *policy == CastPolicy::Banned)
    return report(value,
                  "expects `policy` to be lower, f32, promote, follow or "
                  "narrow, but got ")
           << describeToml(value);
  entry.policy = policy;
  return success();
}

LogicalResult OverrideReader::readKey(CastOverride &entry, StringRef key,
                                      const toml::node &value) {
  if (key == "op")
    return readPattern(key, value, entry.op);
  if (key == "scope")
    return readPattern(key, value, entry.scope);
  if (key == "policy")
    return readPolicy(entry, value);
  return report(value, "expects op, scope or policy, but got `") << key << "`";
}

FailureOr<CastOverride> OverrideReader::readOverride(const toml::node &node) {
  Location location = locate(node);
  const toml::table *table = node.as_table();
  if (!table)
    return emitError(location, "expects a table [[override]], but got a value");
  CastOverride entry(location);
  entry.place = (path + ":" + llvm::Twine(node.source().begin.line)).str();
  for (auto &&[key, value] : *table)
    if (failed(readKey(entry, key.str(), value)))
      return failure();
  if (!entry.policy)
    return emitError(location, "expects `policy` in an override, but got none");
  if (entry.op.empty() && entry.scope.empty())
    return emitError(location,
                     "expects `op` or `scope` in an override, but got neither");
  return entry;
}

LogicalResult OverrideReader::readLists(OverrideFile &target,
                                        const toml::node &value) {
  std::string text = value.value_exact<std::string>().value_or("");
  target.lists = symbolizeCastLists(text);
  if (target.lists)
    return success();
  return report(value, "expects `lists` to be cuda or cpu, but got ")
         << describeToml(value);
}

LogicalResult OverrideReader::readTop(OverrideFile &target, StringRef key,
                                      const toml::node &value) {
  if (key == "lists")
    return readLists(target, value);
  const toml::array *array = value.as_array();
  if (key != "override" || !array)
    return report(value,
                  "expects only `lists` and tables [[override]], but got `")
           << key << "`";
  for (const toml::node &node : *array) {
    FailureOr<CastOverride> entry = readOverride(node);
    if (failed(entry))
      return failure();
    target.overrides.push_back(*entry);
  }
  return success();
}

FailureOr<OverrideFile> OverrideReader::read() {
  FailureOr<TomlFile> parsed =
      readTomlFile(context, path, "file of cast policies");
  if (failed(parsed))
    return failure();
  OverrideFile result;
  result.digest = parsed->digest;
  for (auto &&[key, value] : parsed->table)
    if (failed(readTop(result, key.str(), value)))
      return failure();
  if (result.overrides.empty() && !parsed->table.contains("lists"))
    return reportNone(
        "`lists` or a table [[override]] in a file of cast policies");
  return result;
}

FailureOr<OverrideFile> weft::readOverrideFile(MLIRContext *context,
                                               StringRef path) {
  return OverrideReader(context, path).read();
}

//===----------------------------------------------------------------------===//
// The table in the documents
//===----------------------------------------------------------------------===//

/// The policy under a recipe and the CUDA lists.
static StringRef policyIn(CastRecipe recipe, const CastRule &rule) {
  return stringifyCastPolicy(rule.under(recipe).value_or(rule.cuda));
}

static void printRow(RegisteredOperationName op, const CastRule &rule,
                     raw_ostream &stream) {
  std::string name = castTableName(op, rule);
  stream << "| `" << name << "` | " << stringifyCastPolicy(rule.cuda) << " | "
         << stringifyCastPolicy(rule.cpu) << " | "
         << policyIn(CastRecipe::Llm, rule) << " | "
         << policyIn(CastRecipe::PureF16, rule) << " | " << rule.torchNames
         << " |\n";
}

std::string weft::castPoliciesMarkdown() {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  std::string text = "| op | cuda lists | cpu lists | llm | pure-f16 | in "
                     "PyTorch |\n|---|---|---|---|---|---|\n";
  llvm::raw_string_ostream stream(text);
  SmallVector<RegisteredOperationName> ops(context.getRegisteredOperations());
  llvm::sort(ops, [](RegisteredOperationName a, RegisteredOperationName b) {
    return a.getStringRef() < b.getStringRef();
  });
  for (RegisteredOperationName op : ops)
    if (auto *rules = op.getInterface<CastPolicyOpInterface>())
      for (const CastRule &rule : rules->getCastRules())
        printRow(op, rule, stream);
  return text;
}
