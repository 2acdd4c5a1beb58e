//===- CostKinds.cpp - Kinds of commands in a cost table ------------------===//

#include "weft/Analysis/CostKinds.h"

#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

static std::optional<RegisteredOperationName> findOp(StringRef name,
                                                     MLIRContext *context) {
  return RegisteredOperationName::lookup(
      (WeftDialect::getDialectNamespace() + "." + name).str(), context);
}

/// The first composite op of `weft.computes`, or "".
static StringRef getFormula(KernelOp kernel) {
  auto computed = kernel->getAttrOfType<ArrayAttr>(WeftDialect::kComputesAttr);
  if (!computed)
    return {};
  for (StringAttr name : computed.getAsRange<StringAttr>()) {
    auto op = findOp(name, kernel.getContext());
    if (op && op->hasInterface<CompositeOpInterface>())
      return name;
  }
  return {};
}

static CostKindList getKernelKinds(KernelOp kernel) {
  CostKindList kinds = {kLaunchKind, stringifyKernelKind(kernel.getKind())};
  if (StringRef formula = getFormula(kernel); !formula.empty())
    kinds.push_back(formula);
  return kinds;
}

CostKindList CostKinds::findKinds(StringRef symbol) {
  if (auto kernel = symbols.lookup<KernelOp>(symbol))
    return getKernelKinds(kernel);
  auto group = symbols.lookup<KernelGroupOp>(symbol);
  if (!group)
    return {kLaunchKind};
  std::optional<CostKindList> shared;
  for (auto name : group.getKernels().getAsRange<FlatSymbolRefAttr>()) {
    const CostKindList each = findKinds(name.getValue());
    if (!shared)
      shared = each;
    while (ArrayRef(each).take_front(shared->size()) != ArrayRef(*shared))
      shared->pop_back();
  }
  return shared.value_or(CostKindList{kLaunchKind});
}

CostKindList CostKinds::getKinds(plan::CommandOpInterface command) {
  auto launch = dyn_cast<plan::LaunchOp>(command.getOperation());
  if (!launch)
    return {command.getCommandKind()};
  auto [entry, isNew] = known.try_emplace(launch.getKernelAttr().getAttr());
  if (isNew)
    entry->second = findKinds(launch.getKernel());
  return entry->second;
}

bool weft::isKernelCostKind(StringRef name, MLIRContext *context) {
  if (symbolizeKernelKind(name))
    return true;
  auto op = findOp(name, context);
  return op && op->hasInterface<CompositeOpInterface>();
}
