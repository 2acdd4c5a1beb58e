//===- KernelSpace.cpp - The iteration space of a fused kernel ------------===//

#include "weft/Analysis/KernelSpace.h"

using namespace llvm;

using namespace mlir;
using namespace weft;

bool weft::isTrivialReduce(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && all_of(reduce.getDims(), [&](int64_t dim) {
           return getShape(reduce.getOperand())[dim] == 1;
         });
}

bool weft::isSplatConstant(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && cast<ElementsAttr>(constant.getValue()).isSplat();
}

int64_t KernelSpace::getNumPoints() const {
  return ShapedType::getNumElements(sizes);
}

bool KernelSpace::isFull(Value member) const {
  const SpaceAccess &access = getAccess(member);
  return all_of(access.strides, [](int64_t stride) { return stride != 0; });
}

bool KernelSpace::isReducedLevel(Value member) const {
  const SpaceAccess &access = getAccess(member);
  for (unsigned d = 0, e = sizes.size(); d != e; ++d)
    if (access.dependsOn(d) == reduced[d])
      return false;
  return true;
}

int64_t KernelSpace::getSummedRows() const {
  int64_t rows = 1;
  for (unsigned d = 0, e = sizes.size(); d != e; ++d)
    if (summed[d])
      rows *= sizes[d];
  return rows;
}

bool KernelSpace::tryAdd(Operation *op) {
  KernelSpace copy = *this;
  if (!copy.add(op))
    return false;
  *this = std::move(copy);
  return true;
}

bool KernelSpace::add(Operation *op) {
  if (isSplatConstant(op)) {
    constants.insert(op->getResult(0));
    return true;
  }
  if (auto iota = dyn_cast<IotaOp>(op))
    return addIota(iota);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return addReduce(reduce);
  if (auto view = dyn_cast<ViewOpInterface>(op);
      view && !isMember(op->getOperand(0)))
    return addView(view);
  if (renames(op))
    return addAlias(op);
  return isa<ScalarBodyOpInterface>(op) && addElementwise(op);
}

//===----------------------------------------------------------------------===//
// Views and aliases
//===----------------------------------------------------------------------===//

KernelSpace::View KernelSpace::getView(Value value) const {
  auto it = views.find(value);
  if (it != views.end())
    return it->second;
  return {value, Layout::getDense(getShape(value))};
}

bool KernelSpace::addView(ViewOpInterface op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  if (constants.contains(operand)) {
    constants.insert(result);
    return true;
  }
  View view = getView(operand);
  std::optional<Layout> layout = op.apply(view.layout);
  if (!layout)
    return false;
  views[result] = {view.base, *std::move(layout)};
  return true;
}

/// The numbers of elements, as places in a memory that holds them.
bool KernelSpace::addIota(IotaOp op) {
  ArrayRef<int64_t> shape = getShape(op);
  Layout layout = Layout::getDense(shape);
  int64_t stride = 1;
  layout.strides.assign(shape.size(), 0);
  for (int64_t dim : reverse(op.getDims())) {
    layout.strides[dim] = stride;
    stride *= shape[dim];
  }
  views[op] = {op, layout};
  return true;
}

/// A member under another shape, or reduced over dimensions of size 1.
bool KernelSpace::addAlias(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  SpaceAccess access = getAccess(operand);
  members[result] = access;
  if (afterReduction.contains(operand))
    afterReduction.insert(result);
  if (sums.contains(operand))
    sums.insert(result);
  return true;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Checks that a member is read where it was computed, or records the read of a
/// value from outside.
bool KernelSpace::useOperand(OpOperand &operand, const DimLists &lists) {
  Value value = operand.get();
  if (constants.contains(value))
    return true;
  View view = getView(value);
  SpaceAccess access = makeAccess(view.layout, lists);
  if (isMember(value))
    return access == getAccess(value);
  uses[&operand] = {view.base, access};
  return true;
}

bool KernelSpace::addElementwise(Operation *op) {
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = getShape(result);
  DimLists lists;
  if (!locate(op, shape, lists))
    return false;
  bool after = false;
  for (OpOperand &operand : op->getOpOperands()) {
    // Blocks of a device write sums over rows and never read them.
    if (sums.contains(operand.get()) || !useOperand(operand, lists))
      return false;
    after |= afterReduction.contains(operand.get());
  }
  SpaceAccess access = makeAccess(Layout::getDense(shape), lists);
  members[result] = access;
  if (!after)
    return true;
  afterReduction.insert(result);
  // A column kernel has seen all rows only when its loop has ended.
  if (reducesLast())
    return true;
  for (unsigned d = 0, e = sizes.size(); d != e; ++d)
    if (reduced[d] && access.dependsOn(d))
      return false;
  return true;
}

bool KernelSpace::addReduce(ReduceOp op) {
  Value operand = op.getOperand(), result = op.getResult();
  ArrayRef<int64_t> shape = getShape(operand);
  if (isTrivialReduce(op))
    return isMember(operand) && addAlias(op);
  if (!empty && ShapedType::getNumElements(shape) != getNumPoints())
    return false;
  DimLists lists;
  if (!locate(op, shape, lists) || !useOperand(op->getOpOperand(0), lists))
    return false;
  SmallVector<bool> dims(sizes.size(), false);
  for (int64_t dim : op.getDims())
    for (unsigned d : lists[dim])
      dims[d] = true;
  if (isMember(operand) && !isFull(operand))
    return false;
  if (reductions && dims != reduced)
    return addSum(op, dims);
  reductions = true;
  reduced = dims;
  if (!reducesLast() && afterReduction.contains(operand))
    return false;
  addReduced(result, dims);
  return true;
}

/// Adds up rows that the kernel computes anyway. All such sums of a kernel run
/// over the same dimensions.
bool KernelSpace::addSum(ReduceOp op, ArrayRef<bool> dims) {
  bool isOverRows = reducesLast() && op.getKind() == ReduceKind::Sum;
  for (unsigned d = 0, e = sizes.size(); d != e; ++d)
    isOverRows &= !(dims[d] && reduced[d]);
  if (!allowsSums || !isOverRows ||
      (hasSums() && dims != ArrayRef<bool>(summed)))
    return false;
  summed.assign(dims.begin(), dims.end());
  addReduced(op.getResult(), dims);
  sums.insert(op.getResult());
  return true;
}

/// The result of a reduction over these dimensions.
void KernelSpace::addReduced(Value result, ArrayRef<bool> dims) {
  SpaceAccess access;
  access.strides.assign(sizes.size(), 0);
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (dims[d])
      continue;
    access.strides[d] = stride;
    stride *= sizes[d];
  }
  members[result] = access;
  afterReduction.insert(result);
}
