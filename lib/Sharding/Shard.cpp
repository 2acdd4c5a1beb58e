//===- Shard.cpp - Choose layouts of parameters and states ----------------===//

#include "weft/Dist/Dist.h"
#include "weft/Sharding/MeshSyntax.h"
#include "weft/Sharding/Passes.h"
#include "weft/Sharding/Units.h"
#include "weft/Support/TomlFile.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {
#define GEN_PASS_DEF_SHARDPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// One `[[rule]]` of a file.
struct ShardRule {
  mlir::Location location;
  /// "rules.toml:3"
  std::string place;
  /// Regular expressions for names and modules. "": all.
  std::string match;
  std::string scope;
  /// Matches only trainable, or only frozen parameters.
  std::optional<bool> trainable;
  std::optional<dist::Placement> layout;

  explicit ShardRule(mlir::Location location) : location(location) {}
};
} // namespace

static void setRule(ParamOp param, dist::Placement placement,
                    const Twine &source) {
  MLIRContext *context = param.getContext();
  param->setAttr(dist::DistDialect::kRuleAttr,
                 dist::RuleAttr::get(context, placement,
                                     StringAttr::get(context, source)));
}

/// Finds the parameters that a rule matches. A pattern may match anywhere in
/// the text.
static SmallVector<ParamOp> findParams(ModuleOp module, const ShardRule &rule) {
  llvm::Regex match(rule.match), scope(rule.scope);
  SmallVector<ParamOp> found;
  for (auto param : module.getOps<ParamOp>())
    if ((!rule.trainable || *rule.trainable == param.getTrainable()) &&
        (rule.match.empty() || match.match(param.getSymName())) &&
        (rule.scope.empty() || scope.match(getModulePath(param))))
      found.push_back(param);
  return found;
}

/// "match \"bias\" and trainable true"
static std::string spell(const ShardRule &rule) {
  SmallVector<std::string> words;
  if (!rule.match.empty())
    words.push_back("match \"" + rule.match + "\"");
  if (!rule.scope.empty())
    words.push_back("scope \"" + rule.scope + "\"");
  if (rule.trainable)
    words.push_back(*rule.trainable ? "trainable true" : "trainable false");
  return llvm::join(words, " and ");
}

/// Sets `dist.rule` on each parameter to the first rule that matches it. A rule
/// that matches no parameter, or only parameters of earlier rules, is an error.
static LogicalResult applyShardRules(ModuleOp module,
                                     ArrayRef<ShardRule> rules) {
  for (const ShardRule &rule : rules) {
    SmallVector<ParamOp> found = findParams(module, rule);
    if (found.empty())
      return emitError(rule.location,
                       "expects a rule to find a parameter, but ")
             << spell(rule) << " finds none";
    llvm::erase_if(found, [](ParamOp param) { return dist::getRule(param); });
    if (found.empty())
      return emitError(rule.location,
                       "expects a rule with a parameter of its own, but "
                       "earlier rules claim all that ")
             << spell(rule) << " finds";
    for (ParamOp param : found)
      setRule(param, *rule.layout, rule.place);
  }
  return success();
}

/// Sets a `dist.rule` that replicates the parameter on each parameter of fewer
/// than `min` elements without a rule.
static void keepSmallParams(ModuleOp module, int64_t min) {
  for (auto param : module.getOps<ParamOp>())
    if (!dist::getRule(param) && param.getTensorType().getNumElements() < min)
      setRule(param, dist::Placement::Replicated, "--shard-min=" + Twine(min));
}

//===----------------------------------------------------------------------===//
// Files of rules
//===----------------------------------------------------------------------===//

namespace {
/// Reads one file; every error names the line.
class ShardRuleReader {
public:
  ShardRuleReader(MLIRContext *context, StringRef path)
      : context(context), path(path) {}

  FailureOr<std::vector<ShardRule>> read();

private:
  InFlightDiagnostic report(const toml::node &node, const Twine &rule) {
    return emitError(locateToml(context, path, node.source()), rule);
  }
  FailureOr<ShardRule> readRule(const toml::node &node);
  LogicalResult readKey(ShardRule &rule, StringRef key,
                        const toml::node &value);
  LogicalResult readPattern(std::string &target, StringRef key,
                            const toml::node &value);
  LogicalResult readTrainable(ShardRule &rule, const toml::node &value);
  LogicalResult readLayout(ShardRule &rule, const toml::node &value);

  MLIRContext *context;
  StringRef path;
};
} // namespace

LogicalResult ShardRuleReader::readPattern(std::string &target, StringRef key,
                                           const toml::node &value) {
  FailureOr<std::string> text = readTomlPattern(context, path, key, value);
  if (succeeded(text))
    target = *text;
  return text;
}

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
    return readPattern(rule.match, key, value);
  if (key == "scope")
    return readPattern(rule.scope, key, value);
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
  ShardRule rule(locateToml(context, path, node.source()));
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
  return rules;
}

/// Reads a file of rules, or emits an error at its line.
static FailureOr<std::vector<ShardRule>> readShardRules(MLIRContext *context,
                                                        StringRef path) {
  return ShardRuleReader(context, path).read();
}

namespace {
/// The first ZeRO stage that shards each kind of state.
enum Stage : int64_t { Nothing = 0, Optimizer = 1, Parameters = 3 };

struct ShardPass : weft::impl::ShardPassBase<ShardPass> {
  using ShardPassBase::ShardPassBase;

  void runOnOperation() override {
    if (failed(declareMesh()) || failed(applyRules()))
      return signalPassFailure();
    for (Operation &op : *getOperation().getBody())
      if (isa<ParamOp, StateOp>(op))
        annotate(&op);
  }

  LogicalResult declareMesh() {
    std::optional<MeshText> axes = parseMesh(mesh);
    if (!axes)
      return getOperation().emitError("expects mesh to be ")
             << kMeshRule << ", but got '" << mesh << "'";
    if (zero < Nothing || zero > Parameters)
      return getOperation().emitError("expects zero of 0 to 3, but got ")
             << zero.getValue();
    if (gradients != "sharded" && gradients != "replicated")
      return getOperation().emitError(
                 "expects gradients=sharded or gradients=replicated, but got ")
             << gradients.getValue();
    if (dist::MeshOp other = dist::findMesh(getOperation()))
      return other.emitOpError("expects a module without a mesh for "
                               "weft-shard, but got @")
             << other.getSymName();
    auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
    SmallVector<StringRef> names;
    SmallVector<int64_t> sizes;
    for (const MeshAxis &axis : *axes) {
      names.push_back(axis.name);
      sizes.push_back(axis.size);
    }
    dist::MeshOp::create(builder, getOperation().getLoc(), chooseName(),
                         builder.getStrArrayAttr(names),
                         builder.getDenseI64ArrayAttr(sizes));
    shardAxis = builder.getStringAttr(names.back());
    return success();
  }

  /// Chooses a name for the mesh that no parameter has.
  std::string chooseName() {
    SymbolTable symbols(getOperation());
    std::string name = "mesh";
    for (unsigned number = 1; symbols.lookup(name); ++number)
      name = "mesh." + std::to_string(number);
    return name;
  }

  /// Applies rules at every stage, because parameters that no stage shards are
  /// in separate flat states.
  LogicalResult applyRules() {
    if (min < 0)
      return getOperation().emitError("expects min of at least 0, but got ")
             << min.getValue();
    if (!rules.empty()) {
      FailureOr<std::vector<ShardRule>> list =
          readShardRules(&getContext(), rules);
      if (failed(list) || failed(applyShardRules(getOperation(), *list)))
        return failure();
    }
    keepSmallParams(getOperation(), min);
    for (auto param : getOperation().getOps<ParamOp>())
      if (dist::isKeptWhole(param)) {
        ++numKept;
        kept.insert(param.getSymNameAttr());
      }
    return success();
  }

  /// Whether the parameter, or the parameter of the state, is replicated at
  /// every stage.
  bool isKept(Operation *op) const {
    if (auto param = dyn_cast<ParamOp>(op))
      return kept.contains(param.getSymNameAttr());
    FlatSymbolRefAttr param = cast<StateOp>(op).getParamAttr();
    return param && kept.contains(param.getAttr());
  }

  /// Whether the stage shards the op: master weights and moments of trainable
  /// parameters from stage 1, all parameters and their copies at stage 3, and
  /// gradients that are reduced in a micro-step.
  bool isSharded(Operation *op) const {
    if (auto param = dyn_cast<ParamOp>(op))
      return zero >= (param.getTrainable() ? Optimizer : Parameters);
    auto state = cast<StateOp>(op);
    if (!state.getParamAttr())
      return false;
    switch (state.getKind()) {
    case StateKind::Gradient:
      return gradients == "sharded";
    case StateKind::Optimizer:
      return zero >= Optimizer;
    case StateKind::Working:
      return zero >= Parameters;
    case StateKind::Scaler:
    case StateKind::Presence:
    case StateKind::Denominator:
    case StateKind::Accumulator: // of ranks, made by weft-partition
      return false;
    }
    llvm_unreachable("a state kind without a case");
  }

  void annotate(Operation *op) {
    bool sharded = !isKept(op) && isSharded(op);
    numSharded += sharded;
    numReplicated += !sharded;
    op->setAttr(dist::DistDialect::kLayoutAttr,
                dist::LayoutAttr::get(&getContext(),
                                      sharded ? dist::Placement::Sharded
                                              : dist::Placement::Replicated,
                                      sharded ? shardAxis : StringAttr()));
  }

  StringAttr shardAxis;
  /// Names of the parameters that rules replicate.
  llvm::DenseSet<StringAttr> kept;
};
} // namespace
