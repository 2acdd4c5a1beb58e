//===- KernelOutliner.cpp - From ops to a kernel and its call -------------===//

#include "KernelOutliner.h"
#include "weft/Analysis/CommandNames.h"
#include "weft/Analysis/KernelLayout.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace weft;

static bool isUsedOutside(Value value,
                          const SmallPtrSetImpl<Operation *> &set) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (!set.contains(user))
      return true;
    return renames(user) && isUsedOutside(user->getResult(0), set);
  });
}

SmallVector<Value> weft::findResults(ArrayRef<Operation *> ops,
                                     const SmallPtrSetImpl<Operation *> &set,
                                     const KernelSpace &space) {
  SmallVector<Value> results;
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    // Another name for a member is never written by a kernel.
    if (space.isMember(result) && !renames(op) && isUsedOutside(result, set))
      results.push_back(result);
  }
  return results;
}

SmallVector<Value> KernelOutliner::findOutputs() {
  outputs = findResults(ops, set, space);
  return outputs;
}

SmallVector<Value> KernelOutliner::findInputs() {
  llvm::SmallSetVector<Value, 8> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || !set.contains(def))
        inputs.insert(operand);
    }
  return inputs.takeVector();
}

/// All that `build` reads of the ops, as numbers: equal content gives the same
/// text. Types and attributes are unique in their context.
std::vector<uintptr_t> KernelOutliner::content(ArrayRef<Value> inputs) {
  std::vector<uintptr_t> key;
  llvm::SmallDenseMap<Value, uintptr_t, 16> numbers;
  auto number = [&](Value value) {
    numbers.try_emplace(value, numbers.size());
    key.push_back(
        reinterpret_cast<uintptr_t>(value.getType().getAsOpaquePointer()));
  };
  for (Value input : inputs)
    number(input);
  for (Operation *op : ops) {
    key.push_back(
        reinterpret_cast<uintptr_t>(op->getName().getAsOpaquePointer()));
    key.push_back(reinterpret_cast<uintptr_t>(
        op->getPropertiesAsAttribute().getAsOpaquePointer()));
    for (Value operand : op->getOperands())
      key.push_back(numbers.lookup(operand));
    for (Value result : op->getResults())
      number(result);
  }
  for (Value output : outputs)
    key.push_back(numbers.lookup(output));
  return key;
}

/// Builds the kernel, not yet named, at the end of the module.
KernelOp KernelOutliner::build(ArrayRef<Value> inputs) {
  auto module = cast<ModuleOp>(pool.symbols.getOp());
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> argTypes, resultTypes;
  SmallVector<Location> locations;
  for (Value input : inputs) {
    argTypes.push_back(input.getType());
    locations.push_back(input.getLoc());
  }
  for (Value output : outputs)
    resultTypes.push_back(output.getType());
  // Its facts are recorded when it is known to be a new one.
  auto type = TypeAttr::get(builder.getFunctionType(argTypes, resultTypes));
  auto kernel = KernelOp::create(
      builder, ops.front()->getLoc(), builder.getStringAttr("k"), type,
      /*kind=*/nullptr, /*sizes=*/nullptr, /*over=*/nullptr,
      /*sums=*/nullptr, /*inplace=*/nullptr, /*pitches=*/nullptr,
      /*arg_attrs=*/nullptr,
      /*res_attrs=*/nullptr);
  Block *body = builder.createBlock(&kernel.getBody(), {}, argTypes, locations);
  IRMapping mapping;
  mapping.map(inputs, body->getArguments());
  for (Operation *op : ops) {
    Operation *clone = builder.clone(*op, mapping);
    clone->setDiscardableAttrs(builder.getDictionaryAttr({}));
  }
  SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(mapping.lookup(output));
  YieldOp::create(builder, kernel.getLoc(), results);
  return kernel;
}

/// Names the kernel by its content; an equal one that exists takes its place.
FailureOr<KernelOp> KernelOutliner::unify(KernelOp kernel) {
  eraseDeadOps(kernel.getBody().front());
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  std::string name =
      "k_" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                             /*Width=*/16);
  if (auto existing = pool.symbols.lookup<KernelOp>(name)) {
    kernel.erase();
    return existing;
  }
  if (failed(KernelLayout::recordFacts(kernel)))
    return failure();
  kernel.setSymName(name);
  kernel->remove();
  pool.symbols.insert(kernel);
  ++pool.kernels;
  return kernel;
}

/// Records the names of the formulas, or parts of them, that the kernel
/// computes, and of its other ops. Listings name the kernel by these. The first
/// cluster that contains formulas decides.
void KernelOutliner::recordFormulas(KernelOp kernel) {
  if (!pool.names || kernel->hasAttr(WeftDialect::kComputesAttr))
    return;
  auto findFormula = [&](Operation *op) {
    auto formula = pool.names->find(op);
    bool isPart = formula != pool.names->end() &&
                  (isa<CastOp>(op) || !getNameInKernel(*op).empty());
    return isPart ? formula->second.getValue() : StringRef();
  };
  if (llvm::all_of(ops, [&](Operation *op) { return findFormula(op).empty(); }))
    return;
  Builder builder(kernel.getContext());
  llvm::SmallSetVector<Attribute, 4> computed;
  for (Operation *op : ops) {
    StringRef formula = findFormula(op);
    if (std::string own = getNameInKernel(*op); !formula.empty())
      computed.insert(builder.getStringAttr(formula));
    else if (!own.empty())
      computed.insert(builder.getStringAttr(own));
  }
  kernel->setAttr(WeftDialect::kComputesAttr,
                  builder.getArrayAttr(computed.getArrayRef()));
}

void KernelOutliner::replace(CallOp call) {
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  IRMapping mapping;
  mapping.map(outputs, call.getResults());
  for (Operation *op : ops) { // names used outside are made again there
    Value source = op->getNumOperands() ? op->getOperand(0) : Value();
    if (!renames(op) || !space.isMember(op->getResult(0)) ||
        !mapping.contains(source))
      continue;
    if (isUsedOutside(op->getResult(0), set))
      builder.clone(*op, mapping);
  }
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    if (mapping.contains(result))
      result.replaceUsesWithIf(mapping.lookup(result), [&](OpOperand &use) {
        return !set.contains(use.getOwner());
      });
  }
}

FailureOr<CallOp> KernelOutliner::outline(Operation *place) {
  SmallVector<Value> inputs = findInputs();
  KernelOp &kernel = pool.byContent[content(inputs)];
  if (!kernel) {
    FailureOr<KernelOp> made = unify(build(inputs));
    if (failed(made))
      return failure();
    kernel = *made;
  }
  recordFormulas(kernel);
  OpBuilder builder(place);
  auto call = CallOp::create(builder, outputs.front().getLoc(),
                             TypeRange(ValueRange(outputs)),
                             FlatSymbolRefAttr::get(kernel), inputs);
  copyScope(outputs.front().getDefiningOp(), call);
  ++pool.calls;
  pool.ops += ops.size();
  replace(call);
  return call;
}
