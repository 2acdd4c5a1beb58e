//===- ApplyGroups.cpp - Apply a file of parameter groups -----------------===//

#include "weft/Training/Passes.h"

#include "GroupFile.h"
#include "UpdateGroups.h"
#include "weft/Abi/Names.h"
#include "weft/Support/TomlFile.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Regex.h"

#include <map>

namespace weft {
#define GEN_PASS_DEF_APPLYGROUPSPASS
#include "weft/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Hyper-parameters as the dictionary that weft-expand-optimizer reads.
static DictionaryAttr getNumbers(const ParameterGroup &group,
                                 Builder &builder) {
  SmallVector<NamedAttribute> numbers;
  for (const auto &[name, number] : group.numbers)
    numbers.push_back(
        builder.getNamedAttr(name, builder.getF64FloatAttr(number)));
  if (group.nesterov)
    numbers.push_back(
        builder.getNamedAttr("nesterov", builder.getBoolAttr(*group.nesterov)));
  return builder.getDictionaryAttr(numbers);
}

static void applyGroup(const ParameterGroup &group, ParamOp param) {
  Builder builder(param.getContext());
  if (group.frozen)
    param.setTrainable(!*group.frozen);
  if (group.decay) {
    param.setDecayAttr(builder.getBoolAttr(*group.decay != 0));
    if (*group.decay != 0 && *group.decay != 1)
      param->setAttr(kDecayScaleAttr, builder.getF64FloatAttr(*group.decay));
  } else if (group.numbers.count(names::kWeightDecay))
    param.setDecayAttr(builder.getBoolAttr(true));
  if (group.lrScale)
    param->setAttr(kLrScaleAttr, builder.getF64FloatAttr(*group.lrScale));
  if (group.optimizer)
    param->setAttr(kOptimizerAttr, builder.getStringAttr(*group.optimizer));
  if (group.name)
    param->setAttr(kOptimizerGroupAttr, builder.getStringAttr(*group.name));
  if (DictionaryAttr numbers = getNumbers(group, builder); !numbers.empty())
    param->setAttr(kNumbersAttr, numbers);
}

namespace {
struct ApplyGroupsPass : weft::impl::ApplyGroupsPassBase<ApplyGroupsPass> {
  using ApplyGroupsPassBase::ApplyGroupsPassBase;

  void runOnOperation() override {
    FailureOr<GroupFile> file = readGroupFile(&getContext(), groups);
    if (failed(file))
      return signalPassFailure();
    for (const ParameterGroup &group : file->groups)
      if (failed(claim(group)))
        return signalPassFailure();
    recordOptionFile(getOperation(), "groups", file->digest);
  }

  /// The group takes every matching parameter that is still free.
  LogicalResult claim(const ParameterGroup &group) {
    llvm::Regex regex(group.match);
    bool matches = false, claims = false;
    for (auto param : getOperation().getOps<ParamOp>()) {
      if (!regex.match(param.getSymName()))
        continue;
      matches = true;
      if (!claimed.insert(param).second)
        continue;
      claims = true;
      ++numClaimed;
      applyGroup(group, param);
      if (param.getTrainable() && failed(verifyOptimizer(group, param)))
        return failure();
    }
    if (!matches)
      return emitError(group.location, "expects `match` to find a parameter, "
                                       "but \"")
             << group.match << "\" finds none";
    if (!claims)
      return emitError(group.location, "expects a group with a parameter of "
                                       "its own, but earlier groups claim all "
                                       "that \"")
             << group.match << "\" finds";
    return success();
  }

  /// Checks that the optimizer of a group has the group's hyper-parameters, and
  /// that groups with one name have one optimizer. weft-expand-optimizer checks
  /// the same per parameter; this error names the line of the file.
  LogicalResult verifyOptimizer(const ParameterGroup &group, ParamOp param) {
    StringRef own = getOwnOptimizer(param);
    const OptimizerInfo *info =
        findOptimizer(own.empty() ? StringRef(optimizer) : own);
    if (!info)
      return success();
    StringRef foreign = findForeignNumber(param, *info);
    if (!foreign.empty())
      return emitError(group.location, "expects a group without `")
             << foreign << "`, which " << info->name << " does not have";
    StringRef name = getInstance(param);
    const OptimizerInfo *first =
        instances.try_emplace(name.str(), info).first->second;
    if (first == info)
      return success();
    return emitError(group.location, "expects optimizer ")
           << first->name << " as the rest of group \"" << name
           << "\", but got " << info->name;
  }

  /// The optimizer of each name.
  std::map<std::string, const OptimizerInfo *> instances;
  llvm::DenseSet<Operation *> claimed;
};
} // namespace
