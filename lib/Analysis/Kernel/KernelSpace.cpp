//===- KernelSpace.cpp - The iteration space of a fused kernel ------------===//

#include "weft/Analysis/KernelSpace.h"

using namespace mlir;
using namespace llvm;

namespace weft {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

SmallVector<int64_t, 4> getDenseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

bool isViewOp(Operation *op) {
  return isa<ReshapeOp, SliceOp, TransposeOp, BroadcastOp, FenceOp>(op);
}

bool isTrivialReduce(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && all_of(reduce.getDims(), [&](int64_t dim) {
           return shapeOf(reduce.getOperand())[dim] == 1;
         });
}

bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && cast<ElementsAttr>(constant.getValue()).isSplat();
}

int64_t KernelSpace::getNumPoints() const { return countOf(sizes); }

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

template <typename Fn> void KernelSpace::forEachAccess(Fn fn) {
  for (auto &entry : members)
    fn(entry.second);
  for (auto &entry : uses)
    fn(entry.second.access);
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
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return addReduce(reduce);
  if (isViewOp(op) && !isMember(op->getOperand(0)))
    return addView(op);
  if (isa<ReshapeOp, FenceOp>(op))
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
  return {value, 0, getDenseStrides(shapeOf(value))};
}

/// Strides of `strides` (of shape `from`) under the shape `to`; dense only.
static bool reshapeStrides(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                           SmallVectorImpl<int64_t> &strides) {
  SmallVector<int64_t, 4> dense = getDenseStrides(from);
  for (auto [size, stride, expected] : zip(from, strides, dense))
    if (size != 1 && stride != expected)
      return false;
  SmallVector<int64_t, 4> result = getDenseStrides(to);
  strides.assign(result.begin(), result.end());
  return true;
}

bool KernelSpace::addView(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  if (constants.contains(operand)) {
    constants.insert(result);
    return true;
  }
  View view = getView(operand);
  if (isa<ReshapeOp>(op)) {
    if (!reshapeStrides(shapeOf(operand), shapeOf(result), view.strides))
      return false;
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [i, stride] : enumerate(view.strides)) {
      view.offset += slice.getOffsets()[i] * stride;
      stride *= slice.getStrides()[i];
    }
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    SmallVector<int64_t, 4> strides;
    for (int64_t from : transpose.getPermutation())
      strides.push_back(view.strides[from]);
    view.strides = strides;
  } else if (isa<BroadcastOp>(op)) {
    ArrayRef<int64_t> from = shapeOf(operand), to = shapeOf(result);
    SmallVector<int64_t, 4> strides(to.size(), 0);
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] != 1)
        strides[to.size() - from.size() + i] = view.strides[i];
    view.strides = strides;
  }
  views[result] = view;
  return true;
}

/// A member under another shape, or reduced over dimensions of size 1.
bool KernelSpace::addAlias(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  SpaceAccess access = getAccess(operand);
  members[result] = access;
  if (afterReduction.contains(operand))
    afterReduction.insert(result);
  return true;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

SmallVector<bool> KernelSpace::getSupport(Value member) const {
  SmallVector<bool> support;
  for (int64_t stride : getAccess(member).strides)
    support.push_back(stride != 0);
  return support;
}

/// Splits dimension `dim` into (size / inner, inner).
void KernelSpace::split(unsigned dim, int64_t inner) {
  forEachAccess([&](SpaceAccess &access) {
    int64_t stride = access.strides[dim];
    access.strides[dim] = stride * inner;
    access.strides.insert(access.strides.begin() + dim + 1, stride);
  });
  sizes[dim] /= inner;
  sizes.insert(sizes.begin() + dim + 1, inner);
  reduced.insert(reduced.begin() + dim + 1, reduced[dim]);
}

/// Finds the dimensions each dimension of `shape` runs over, which together are
/// those in `support`, in order. Splits dimensions of the space where needed.
bool KernelSpace::assign(ArrayRef<int64_t> shape, SmallVector<bool> support,
                         DimLists &lists) {
  lists.assign(shape.size(), {});
  int dim = sizes.size();
  auto next = [&] {
    while (--dim >= 0 && !support[dim])
      ;
  };
  next();
  for (size_t j = shape.size(); j-- > 0;) {
    for (int64_t left = shape[j]; left != 1; next()) {
      if (dim < 0)
        return false;
      if (left % sizes[dim] == 0) {
        left /= sizes[dim];
        lists[j].insert(lists[j].begin(), dim);
        continue;
      }
      if (sizes[dim] % left != 0)
        return false;
      split(dim, left);
      support.insert(support.begin() + dim, true);
      return assign(shape, support, lists);
    }
  }
  return dim < 0;
}

/// Finds the dimensions of `shape`, the iteration shape of `op`.
bool KernelSpace::locate(Operation *op, ArrayRef<int64_t> shape,
                         DimLists &lists) {
  if (is_contained(shape, 0))
    return false;
  if (empty) {
    empty = false;
    for (int64_t size : shape)
      if (size != 1)
        sizes.push_back(size);
    reduced.assign(sizes.size(), false);
    return assign(shape, SmallVector<bool>(sizes.size(), true), lists);
  }
  int64_t count = countOf(shape), total = getNumPoints();
  if (count == total)
    return assign(shape, SmallVector<bool>(sizes.size(), true), lists);
  return count < total ? locateByMembers(op, shape, lists)
                       : grow(op, shape, lists);
}

/// `op` runs over a part of the space that its member operands determine.
bool KernelSpace::locateByMembers(Operation *op, ArrayRef<int64_t> shape,
                                  DimLists &lists) {
  DimLists own;
  size_t before;
  do { // until no operand splits a dimension any more
    before = sizes.size();
    lists.assign(shape.size(), {});
    for (Value operand : op->getOperands()) {
      if (!isMember(operand))
        continue;
      ArrayRef<int64_t> operandShape = shapeOf(operand);
      if (!assign(operandShape, getSupport(operand), own))
        return false;
      size_t shift = shape.size() - operandShape.size();
      for (size_t j = 0; j < operandShape.size(); ++j)
        if (operandShape[j] != 1)
          lists[shift + j] = own[j];
    }
  } while (before != sizes.size());
  for (size_t j = 0; j < shape.size(); ++j)
    if (shape[j] != 1 && lists[j].empty())
      return false;
  return true;
}

/// `op` runs over a larger space into which a full operand embeds this one.
bool KernelSpace::grow(Operation *op, ArrayRef<int64_t> shape,
                       DimLists &lists) {
  if (reductions)
    return false;
  Value anchor;
  for (Value operand : op->getOperands())
    if (isMember(operand) && isFull(operand))
      anchor = operand;
  DimLists own;
  if (!anchor || !assign(shapeOf(anchor), getSupport(anchor), own))
    return false;
  size_t shift = shape.size() - shapeOf(anchor).size();
  SmallVector<int64_t> newSizes, origin; // origin: old dimension or -1
  lists.assign(shape.size(), {});
  for (size_t j = 0; j < shape.size(); ++j) {
    bool old = j >= shift && shapeOf(anchor)[j - shift] != 1;
    if (!old && shape[j] == 1)
      continue;
    SmallVector<int64_t> dims = {-1};
    if (old)
      dims.assign(own[j - shift].begin(), own[j - shift].end());
    for (int64_t dim : dims) {
      lists[j].push_back(origin.size());
      origin.push_back(dim);
      newSizes.push_back(dim < 0 ? shape[j] : sizes[dim]);
    }
  }
  forEachAccess([&](SpaceAccess &access) {
    SmallVector<int64_t, 4> strides;
    for (int64_t dim : origin)
      strides.push_back(dim < 0 ? 0 : access.strides[dim]);
    access.strides = strides;
  });
  sizes = newSizes;
  reduced.assign(sizes.size(), false);
  return true;
}

SpaceAccess KernelSpace::makeAccess(ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> strides, int64_t offset,
                                    const DimLists &lists) const {
  SpaceAccess access;
  access.offset = offset;
  access.strides.assign(sizes.size(), 0);
  size_t shift = lists.size() - shape.size();
  for (size_t j = 0; j < shape.size(); ++j) {
    if (shape[j] == 1)
      continue;
    int64_t stride = strides[j];
    for (unsigned dim : reverse(lists[shift + j])) {
      access.strides[dim] = stride;
      stride *= sizes[dim];
    }
  }
  return access;
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
  SpaceAccess access =
      makeAccess(shapeOf(value), view.strides, view.offset, lists);
  if (isMember(value))
    return access == getAccess(value);
  uses[&operand] = {view.base, access};
  return true;
}

bool KernelSpace::addElementwise(Operation *op) {
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = shapeOf(result);
  DimLists lists;
  if (!locate(op, shape, lists))
    return false;
  bool after = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!useOperand(operand, lists))
      return false;
    after |= afterReduction.contains(operand.get());
  }
  SpaceAccess access = makeAccess(shape, getDenseStrides(shape), 0, lists);
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
  ArrayRef<int64_t> shape = shapeOf(operand);
  if (isTrivialReduce(op))
    return isMember(operand) && addAlias(op);
  if (!empty && countOf(shape) != getNumPoints())
    return false;
  DimLists lists;
  if (!locate(op, shape, lists) || !useOperand(op->getOpOperand(0), lists))
    return false;
  SmallVector<bool> dims(sizes.size(), false);
  for (int64_t dim : op.getDims())
    for (unsigned d : lists[dim])
      dims[d] = true;
  if (reductions && dims != reduced)
    return false;
  if (isMember(operand) && !isFull(operand))
    return false;
  reductions = true;
  reduced = dims;
  if (!reducesLast() && afterReduction.contains(operand))
    return false;
  SpaceAccess access;
  access.strides.assign(sizes.size(), 0);
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (reduced[d])
      continue;
    access.strides[d] = stride;
    stride *= sizes[d];
  }
  members[result] = access;
  afterReduction.insert(result);
  return true;
}

//===----------------------------------------------------------------------===//
// Collapsing
//===----------------------------------------------------------------------===//

void KernelSpace::collapse(ArrayRef<Value> outputs,
                           SmallVectorImpl<bool> &outer) {
  auto joins = [&](const SpaceAccess &access, unsigned d) {
    return access.strides[d] == access.strides[d + 1] * sizes[d + 1];
  };
  for (unsigned d = 0; d + 1 < sizes.size();) {
    bool join = outer[d] == outer[d + 1] && reduced[d] == reduced[d + 1];
    for (auto &entry : uses)
      join &= joins(entry.second.access, d);
    for (Value output : outputs)
      join &= joins(getAccess(output), d);
    if (!join) {
      ++d;
      continue;
    }
    forEachAccess([&](SpaceAccess &access) {
      access.strides.erase(access.strides.begin() + d);
    });
    sizes[d] *= sizes[d + 1];
    sizes.erase(sizes.begin() + d + 1);
    reduced.erase(reduced.begin() + d + 1);
    outer.erase(outer.begin() + d + 1);
  }
}

} // namespace weft
