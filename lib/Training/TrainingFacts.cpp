//===- TrainingFacts.cpp - Record the facts of an update ------------------===//
//
// Later passes replace updates and losses by formulas, which do not show these
// facts any more.
//
//===----------------------------------------------------------------------===//

#include "UpdateGroups.h"

#include "weft/Training/Passes.h"
#include "weft/Weft/Losses.h"
#include "weft/Weft/Optimizers.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace weft;

static ArrayAttr listOptimizers(ArrayRef<Update> updates, Builder &builder) {
  SmallVector<StringRef> names;
  for (const OptimizerInfo *optimizer : getOptimizers())
    if (llvm::any_of(updates, [&](const Update &update) {
          return update.optimizer == optimizer;
        }))
      names.push_back(optimizer->name);
  return builder.getStrArrayAttr(names);
}

/// The parameters of each counter; null if there is one counter.
static DictionaryAttr listCounters(ArrayRef<Update> updates, Builder &builder) {
  if (getStepSymbols(updates).size() < 2)
    return {};
  std::map<std::string, SmallVector<Attribute>> counted;
  for (const Update &update : updates) {
    ParamOp param = update.param;
    counted[getStepSymbol(update.group, update.getPresence())].push_back(
        param.getSymNameAttr());
  }
  SmallVector<NamedAttribute> counters;
  for (const auto &[symbol, params] : counted)
    counters.push_back(
        builder.getNamedAttr(symbol, builder.getArrayAttr(params)));
  return builder.getDictionaryAttr(counters);
}

/// The metrics of micro; null if there are none. Its variants and eval have the
/// same.
static ArrayAttr listMetrics(ModuleOp module, Builder &builder) {
  for (auto program : module.getOps<ProgramOp>()) {
    SmallVector<StringRef> names = getMetricNames(program);
    if (program.getKind() == ProgramKind::Micro && !names.empty())
      return builder.getStrArrayAttr(names);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Inputs that are indices
//===----------------------------------------------------------------------===//

namespace {
struct IndexRule {
  int64_t limit;
  std::optional<int64_t> ignore; // losses leave these rows out
};
} // namespace

/// The input of a program whose elements are all of `value`, or null. A slice
/// does not tell about the other elements of the input.
static BlockArgument findWholeInput(Value value) {
  const int64_t size = cast<ShapedType>(value.getType()).getNumElements();
  while (Operation *maker = value.getDefiningOp()) {
    if (!movesElements(maker) && !isa<CastOp>(maker))
      return {};
    value = maker->getOperand(0);
  }
  bool isWhole = cast<ShapedType>(value.getType()).getNumElements() == size;
  return isWhole ? cast<BlockArgument>(value) : BlockArgument();
}

using IndexRules = llvm::MapVector<StringRef, IndexRule>;

/// Combines a rule with the other rules of the same input.
static void addRule(IndexRules &rules, Value indices, IndexRule rule) {
  BlockArgument input = findWholeInput(indices);
  if (!input)
    return;
  auto program = cast<ProgramOp>(input.getOwner()->getParentOp());
  StringRef name = program.getInputName(input.getArgNumber());
  IndexRule &all = rules.insert({name, rule}).first->second;
  all.limit = std::min(all.limit, rule.limit);
  if (all.ignore != rule.ignore)
    all.ignore.reset();
}

/// Other programs read the same data, or inputs that the host fills.
static ArrayAttr listIndexInputs(ModuleOp module, Builder &builder) {
  IndexRules rules;
  for (auto program : module.getOps<ProgramOp>()) {
    if (program.getKind() != ProgramKind::Micro)
      continue;
    program.walk([&](EmbeddingOp lookup) {
      addRule(rules, lookup.getIds(),
              {lookup.getTable().getType().getDimSize(0), std::nullopt});
    });
    program.walk([&](CountedMeanOpInterface mean) {
      addRule(rules, mean.getCountedTargets(),
              {mean.getClassCount(), mean.getIgnoredTarget()});
    });
  }
  if (rules.empty())
    return {};
  SmallVector<Attribute> inputs;
  for (const auto &[name, rule] : rules)
    inputs.push_back(IndexInputAttr::get(builder.getContext(),
                                         builder.getStringAttr(name),
                                         rule.limit, rule.ignore));
  return builder.getArrayAttr(inputs);
}

//===----------------------------------------------------------------------===//
// Update groups
//===----------------------------------------------------------------------===//

/// A factor of a parameter, or a default.
static Attribute getFactor(ParamOp param, StringRef name, double fallback,
                           Builder &builder) {
  Attribute factor = param->getAttr(name);
  return factor ? factor : builder.getF64FloatAttr(fallback);
}

/// How the parameter is updated, without its name.
static DictionaryAttr describeRule(const Update &update, Builder &builder) {
  ParamOp param = update.param;
  NamedAttrList rule;
  rule.set("optimizer", builder.getStringAttr(update.optimizer->name));
  rule.set("name", builder.getStringAttr(update.group));
  rule.set("lr_scale", getFactor(param, kLrScaleAttr, 1.0, builder));
  rule.set("decay_scale", param.decays()
                              ? getFactor(param, kDecayScaleAttr, 1.0, builder)
                              : builder.getF64FloatAttr(0.0));
  if (Attribute numbers = param->getAttr(kNumbersAttr))
    rule.set("numbers", numbers);
  return rule.getDictionary(builder.getContext());
}

/// Parameters that are updated alike, in the order of their first one.
static ArrayAttr listGroups(ArrayRef<Update> updates, Builder &builder) {
  llvm::MapVector<DictionaryAttr, SmallVector<Attribute>> groups;
  for (const Update &update : updates) {
    ParamOp param = update.param;
    groups[describeRule(update, builder)].push_back(param.getSymNameAttr());
  }
  SmallVector<Attribute> list;
  for (auto &[rule, params] : groups) {
    NamedAttrList group(rule);
    group.set("params", builder.getArrayAttr(params));
    list.push_back(group.getDictionary(builder.getContext()));
  }
  return builder.getArrayAttr(list);
}

void weft::recordTraining(ModuleOp module, ArrayRef<Update> updates,
                          ScalerStates scaler) {
  Builder builder(module.getContext());
  ScalerAttr rule;
  if (scaler.scale)
    rule = scaler.scale->getAttrOfType<ScalerAttr>(WeftDialect::kScalerAttr);
  module->setAttr(WeftDialect::kTrainingAttr,
                  TrainingAttr::get(module.getContext(),
                                    listOptimizers(updates, builder),
                                    listCounters(updates, builder), rule,
                                    listIndexInputs(module, builder),
                                    listMetrics(module, builder)));
  module->setAttr(kUpdateGroupsAttr, listGroups(updates, builder));
}
