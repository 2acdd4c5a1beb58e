//===- Outline.cpp - From a group of ops to a kernel and its call ---------===//

#include "Fusion.h"
#include "weft/Analysis/KernelLayout.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace weft {

/// A member under another shape or name; never written by a kernel.
static bool isRenaming(Operation *op) { return isa<ReshapeOp, FenceOp>(op); }

namespace {

class Outliner {
public:
  Outliner(llvm::ArrayRef<Operation *> ops, SymbolTable &symbols)
      : ops(ops.begin(), ops.end()), symbols(symbols) {
    set.insert(ops.begin(), ops.end());
  }

  bool buildSpace();
  /// Members that the kernel has to write.
  llvm::SmallVector<Value> findOutputs();
  LogicalResult outline(OutlineCounts &counts);

  const KernelSpace &getSpace() const { return space; }

private:
  bool isUsedOutside(Value value);
  llvm::SmallVector<Value> findInputs();
  KernelOp build(llvm::ArrayRef<Value> inputs);
  FailureOr<KernelOp> unify(KernelOp kernel, OutlineCounts &counts);
  void replace(CallOp call);

  llvm::SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> set;
  SymbolTable &symbols;
  KernelSpace space;
  llvm::SmallVector<Value> outputs;
};

bool Outliner::buildSpace() {
  for (Operation *op : ops)
    if (!space.add(op))
      return false;
  return true;
}

bool Outliner::isUsedOutside(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (!set.contains(user))
      return true;
    return isRenaming(user) && isUsedOutside(user->getResult(0));
  });
}

llvm::SmallVector<Value> Outliner::findOutputs() {
  outputs.clear();
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    if (space.isMember(result) && !isRenaming(op) && isUsedOutside(result))
      outputs.push_back(result);
  }
  return outputs;
}

llvm::SmallVector<Value> Outliner::findInputs() {
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || !set.contains(def))
        inputs.insert(operand);
    }
  return inputs.takeVector();
}

/// Builds the kernel, not yet named, at the end of the module.
KernelOp Outliner::build(llvm::ArrayRef<Value> inputs) {
  auto module = cast<ModuleOp>(symbols.getOp());
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  llvm::SmallVector<Type> argTypes, resultTypes;
  llvm::SmallVector<Location> locations;
  for (Value input : inputs) {
    argTypes.push_back(input.getType());
    locations.push_back(input.getLoc());
  }
  for (Value output : outputs)
    resultTypes.push_back(output.getType());
  auto kernel = KernelOp::create(builder, ops.front()->getLoc(), "k",
                                 builder.getFunctionType(argTypes, resultTypes),
                                 /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr);
  Block *body = builder.createBlock(&kernel.getBody(), {}, argTypes, locations);
  IRMapping mapping;
  mapping.map(inputs, body->getArguments());
  for (Operation *op : ops) {
    Operation *clone = builder.clone(*op, mapping);
    clone->setDiscardableAttrs(builder.getDictionaryAttr({}));
  }
  llvm::SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(mapping.lookup(output));
  YieldOp::create(builder, kernel.getLoc(), results);
  return kernel;
}

static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static void setFacts(KernelOp kernel, const KernelLayout &layout) {
  Builder builder(kernel.getContext());
  kernel->setAttr("weft.extent", builder.getI64IntegerAttr(layout.getExtent()));
  kernel->setAttr("weft.grain", builder.getI64IntegerAttr(layout.getGrain()));
  llvm::SmallVector<Attribute> inPlace;
  for (unsigned i = 0; i < kernel.getResultTypes().size(); ++i)
    inPlace.push_back(
        builder.getDenseI64ArrayAttr(layout.getInPlaceInputs(kernel, i)));
  kernel->setAttr("weft.inplace", builder.getArrayAttr(inPlace));
}

/// Names the kernel by its content; an equal one that exists takes its place.
FailureOr<KernelOp> Outliner::unify(KernelOp kernel, OutlineCounts &counts) {
  eraseDeadOps(kernel.getBody().front());
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  std::string name =
      "k_" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                             /*Width=*/16);
  if (auto existing = symbols.lookup<KernelOp>(name)) {
    kernel.erase();
    return existing;
  }
  FailureOr<KernelLayout> layout = KernelLayout::get(kernel);
  if (failed(layout))
    return failure();
  setFacts(kernel, *layout);
  kernel.setSymName(name);
  kernel->remove();
  symbols.insert(kernel);
  ++counts.kernels;
  return kernel;
}

void Outliner::replace(CallOp call) {
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  IRMapping mapping;
  mapping.map(outputs, call.getResults());
  for (Operation *op : ops) { // names used outside are made again there
    Value source = op->getNumOperands() ? op->getOperand(0) : Value();
    if (!isRenaming(op) || !space.isMember(op->getResult(0)) ||
        !mapping.contains(source))
      continue;
    if (isUsedOutside(op->getResult(0)))
      builder.clone(*op, mapping);
  }
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    if (mapping.contains(result))
      result.replaceUsesWithIf(mapping.lookup(result), [&](OpOperand &use) {
        return !set.contains(use.getOwner());
      });
  }
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

LogicalResult Outliner::outline(OutlineCounts &counts) {
  llvm::SmallVector<Value> inputs = findInputs();
  KernelOp made = build(inputs);
  FailureOr<KernelOp> kernel = unify(made, counts);
  if (failed(kernel))
    return failure();
  Operation *last = ops.back();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  auto call = CallOp::create(builder, outputs.front().getLoc(),
                             TypeRange(ValueRange(outputs)),
                             FlatSymbolRefAttr::get(*kernel), inputs);
  copyScope(outputs.front().getDefiningOp(), call);
  ++counts.calls;
  counts.ops += ops.size();
  replace(call);
  return success();
}

} // namespace

/// The ops that `value` is computed from.
static llvm::DenseSet<Operation *> sliceOf(Value value,
                                           llvm::ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> slice = {value.getDefiningOp()};
  for (Operation *op : llvm::reverse(ops))
    if (slice.contains(op))
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp())
          slice.insert(def);
  return slice;
}

LogicalResult outlineCluster(llvm::ArrayRef<Operation *> ops,
                             SymbolTable &symbols, OutlineCounts &counts) {
  Outliner outliner(ops, symbols);
  if (!outliner.buildSpace())
    return ops.front()->emitOpError("does not fit the kernel chosen for it");
  llvm::SmallVector<Value> outputs = outliner.findOutputs(), rejected;
  if (outputs.empty())
    return success();
  if (KernelLayout::canWrite(outliner.getSpace(), outputs, rejected))
    return outliner.outline(counts);
  // What the kernel cannot write gets one of its own, which runs before it.
  llvm::DenseSet<Operation *> slice = sliceOf(rejected.front(), ops);
  llvm::SmallVector<Operation *> first, rest;
  llvm::DenseSet<Operation *> needed;
  for (Operation *op : llvm::reverse(ops)) {
    if (slice.contains(op))
      first.push_back(op);
    bool shared = !outliner.getSpace().isMember(op->getResult(0)) &&
                  llvm::any_of(op->getUsers(), [&](Operation *user) {
                    return needed.contains(user);
                  });
    if (slice.contains(op) && !shared)
      continue;
    rest.push_back(op);
    needed.insert(op);
  }
  std::reverse(first.begin(), first.end());
  std::reverse(rest.begin(), rest.end());
  if (failed(outlineCluster(first, symbols, counts)))
    return failure();
  return outlineCluster(rest, symbols, counts);
}

} // namespace weft
