//===- IndexRules.cpp - What plans say of inputs that are indices ---------===//

#include "weft/Analysis/IndexRules.h"

#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

namespace {
/// Follows the integers of an input to what they are compared with.
class ClassFinder {
public:
  llvm::SmallSetVector<int64_t, 2> run(plan::InputOp input);

private:
  void visitUser(OpOperand &use);
  void visitLaunch(plan::LaunchOp launch, unsigned index);
  void visitKernel(KernelOp kernel, unsigned argument);

  llvm::SetVector<Value> buffers;
  llvm::SmallSetVector<int64_t, 2> counts;
};
} // namespace

/// The elements along the dimensions that a value counts through.
static int64_t countPositions(Value value) {
  auto iota = skipViews(value).getDefiningOp<IotaOp>();
  if (!iota)
    return 0;
  int64_t count = 1;
  for (int64_t dim : iota.getDims())
    count *= cast<RankedTensorType>(iota.getType()).getDimSize(dim);
  return count;
}

void ClassFinder::visitKernel(KernelOp kernel, unsigned argument) {
  llvm::SetVector<Value> values;
  values.insert(kernel.getBody().getArgument(argument));
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      if (isa<ViewOpInterface, CastOp>(user))
        values.insert(user->getResult(0));
      if (auto compare = dyn_cast<CompareOp>(user))
        if (int64_t count =
                countPositions(user->getOperand(1 - use.getOperandNumber())))
          counts.insert(count);
    }
}

void ClassFinder::visitLaunch(plan::LaunchOp launch, unsigned index) {
  auto kernel = dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(
      launch->getParentOfType<ModuleOp>(), launch.getKernelAttr()));
  if (kernel && index < kernel.getNumArguments())
    visitKernel(kernel, index);
}

void ClassFinder::visitUser(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto view = dyn_cast<plan::ViewOp>(user))
    buffers.insert(view.getView());
  if (auto copy = dyn_cast<plan::CopyOp>(user);
      copy && copy.getSource() == use.get())
    buffers.insert(plan::getRoot(copy.getTarget()));
  if (auto rows = dyn_cast<plan::EmbeddingOp>(user);
      rows && rows.getIds() == use.get())
    counts.insert(cast<MemRefType>(rows.getTable().getType()).getDimSize(0));
  if (auto launch = dyn_cast<plan::LaunchOp>(user))
    visitLaunch(launch, use.getOperandNumber());
}

llvm::SmallSetVector<int64_t, 2> ClassFinder::run(plan::InputOp input) {
  buffers.insert(input.getBuffer());
  for (size_t i = 0; i < buffers.size(); ++i)
    for (OpOperand &use : buffers[i].getUses())
      visitUser(use);
  return std::move(counts);
}

llvm::SmallSetVector<int64_t, 2> weft::findClassCounts(plan::InputOp input) {
  return ClassFinder().run(input);
}
