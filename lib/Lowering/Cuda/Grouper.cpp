//===- Grouper.cpp - Commands of a program as one launch ------------------===//

#include "Grouper.h"

#include "GpuEmitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace weft;

/// The module's group of these kernels in this order, or a new one.
KernelGroupOp Grouper::findOrCreateGroup(ArrayRef<KernelOp> kernels,
                                         Location loc) {
  std::string names;
  for (KernelOp kernel : kernels)
    names += kernel.getSymName().str() + " ";
  const std::string name =
      "g_" + llvm::utohexstr(llvm::xxh3_64bits(names), /*LowerCase=*/true);
  if (auto known = symbols.lookup<KernelGroupOp>(name))
    return known;
  OpBuilder builder(kernels.back()->getContext());
  builder.setInsertionPointAfter(kernels.back());
  KernelGroupOp group = KernelGroupOp::createGroup(builder, loc, name, kernels);
  symbols.insert(group);
  return group;
}

void Grouper::replace(ArrayRef<GroupMember> members, IntegerAttr flops,
                      FloatAttr estUs) {
  SmallVector<KernelOp> kernels;
  SmallVector<Value> inputs, outputs;
  SmallVector<Location> places;
  auto scopeOf = [](const GroupMember &member) {
    return plan::CommandOpInterface(member.command).getCommandScope();
  };
  StringRef scope = scopeOf(members.front());
  for (const GroupMember &member : members) {
    kernels.push_back(member.kernel);
    llvm::append_range(inputs, member.inputs);
    llvm::append_range(outputs, member.outputs);
    places.push_back(member.command->getLoc());
    scope = getCommonScope(scope, scopeOf(member));
  }
  OpBuilder builder(members.back().command);
  Location loc = builder.getFusedLoc(places);
  KernelGroupOp group = findOrCreateGroup(kernels, loc);
  plan::LaunchOp::create(
      builder, loc, FlatSymbolRefAttr::get(group.getSymNameAttr()), inputs,
      outputs, scope.empty() ? StringAttr() : builder.getStringAttr(scope),
      flops, estUs, /*stream=*/IntegerAttr());
  for (const GroupMember &member : members)
    plan::CommandOpInterface(member.command)->erase();
  numGrouped += static_cast<int64_t>(members.size());
  ++numGroups;
}

LogicalResult weft::checkGroupBuffers(ModuleOp module, int64_t buffers) {
  if (buffers >= 0 && buffers <= kMostKernelBuffers)
    return success();
  return module.emitError("expects from 0 to ")
         << kMostKernelBuffers << " buffers of a group, as a kernel has 4 KiB "
         << "of arguments, but got " << buffers;
}
