//===- KernelSpaceDims.cpp - Dimensions of a kernel's space ---------------===//
//
// Where the dimensions of an op lie in the space: splitting, growing and
// joining what was there.
//
//===----------------------------------------------------------------------===//

#include "weft/Analysis/RowOrder.h"

using namespace llvm;

using namespace mlir;
using namespace weft;

template <typename Fn> void KernelSpace::forEachAccess(Fn fn) {
  for (auto &entry : members)
    fn(entry.second);
  for (auto &entry : uses)
    fn(entry.second.access);
}

//===----------------------------------------------------------------------===//
// Locating
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
  summed.insert(summed.begin() + dim + 1, summed[dim]);
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
    summed = reduced;
    return assign(shape, SmallVector<bool>(sizes.size(), true), lists);
  }
  int64_t count = ShapedType::getNumElements(shape), total = getNumPoints();
  if (count == total)
    return assign(shape, SmallVector<bool>(sizes.size(), true), lists);
  return count < total ? locateByMembers(op, shape, lists)
                       : grow(op, shape, lists);
}

/// Whether no dimension of the space stands for two of a tensor.
static bool areDistinct(ArrayRef<SmallVector<unsigned, 2>> lists,
                        size_t numDims) {
  SmallVector<bool> taken(numDims, false);
  for (ArrayRef<unsigned> dims : lists)
    for (unsigned dim : dims) {
      if (taken[dim])
        return false;
      taken[dim] = true;
    }
  return true;
}

/// `op` runs over a part of the space that its member operands determine. A
/// value and its own transpose, say [n, 1] times [n], do not: one element of
/// the result needs two rows of the space.
bool KernelSpace::locateByMembers(Operation *op, ArrayRef<int64_t> shape,
                                  DimLists &lists) {
  // Rows of values from outside alone can stand beside the reductions.
  bool isOutside = llvm::none_of(
      op->getOperands(), [&](Value operand) { return isMember(operand); });
  if (reductions && isOutside && ShapedType::getNumElements(shape) != 1) {
    SmallVector<bool> kept;
    for (bool isReduced : reduced)
      kept.push_back(!isReduced);
    return assign(shape, kept, lists);
  }
  DimLists own;
  size_t before;
  do { // until no operand splits a dimension any more
    before = sizes.size();
    lists.assign(shape.size(), {});
    for (Value operand : op->getOperands()) {
      if (!isMember(operand))
        continue;
      ArrayRef<int64_t> operandShape = getShape(operand);
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
  return areDistinct(lists, sizes.size());
}

/// `op` runs over a larger space into which a full operand embeds this one. A
/// single point lies in every space.
bool KernelSpace::grow(Operation *op, ArrayRef<int64_t> shape,
                       DimLists &lists) {
  if (reductions)
    return false;
  Value anchor;
  for (Value operand : op->getOperands())
    if (isMember(operand) && isFull(operand))
      anchor = operand;
  DimLists own;
  bool isPoint = sizes.empty();
  if (!isPoint &&
      (!anchor || !assign(getShape(anchor), getSupport(anchor), own)))
    return false;
  size_t shift = shape.size() - (isPoint ? 0 : getShape(anchor).size());
  SmallVector<int64_t> newSizes, origin; // origin: old dimension or -1
  lists.assign(shape.size(), {});
  for (size_t j = 0; j < shape.size(); ++j) {
    bool old = j >= shift && getShape(anchor)[j - shift] != 1;
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
  summed = reduced;
  return true;
}

SpaceAccess KernelSpace::makeAccess(const Layout &layout,
                                    const DimLists &lists) const {
  SpaceAccess access;
  access.offset = layout.offset;
  access.strides.assign(sizes.size(), 0);
  size_t shift = lists.size() - layout.sizes.size();
  for (size_t j = 0; j < layout.sizes.size(); ++j) {
    if (layout.sizes[j] == 1)
      continue;
    int64_t stride = layout.strides[j];
    for (unsigned dim : reverse(lists[shift + j])) {
      access.strides[dim] = stride;
      stride *= sizes[dim];
    }
  }
  return access;
}

//===----------------------------------------------------------------------===//
// Padded rows
//===----------------------------------------------------------------------===//

static bool spread(SpaceAccess &access, ArrayRef<int64_t> sizes,
                   int64_t columns, int64_t pitch) {
  Layout layout;
  layout.sizes.assign(sizes.begin(), sizes.end());
  layout.strides.assign(access.strides.begin(), access.strides.end());
  layout.offset = access.offset;
  std::optional<Layout> rows = layout.spreadRows(columns, pitch);
  if (!rows)
    return false;
  access.offset = rows->offset;
  access.strides.assign(rows->strides.begin(), rows->strides.end());
  return true;
}

bool KernelSpace::spreadReads(Value base, int64_t columns, int64_t pitch) {
  for (auto &entry : uses)
    if (entry.second.base == base &&
        !spread(entry.second.access, sizes, columns, pitch))
      return false;
  return true;
}

bool KernelSpace::spreadWrites(Value member, int64_t columns, int64_t pitch) {
  return spread(members.find(member)->second, sizes, columns, pitch);
}

//===----------------------------------------------------------------------===//
// Collapsing
//===----------------------------------------------------------------------===//

/// Whether every read and the given results walk dimension `dim` and the next
/// one as if they were one.
bool KernelSpace::walksAsOne(unsigned dim, ArrayRef<Value> outputs) const {
  auto joins = [&](const SpaceAccess &access) {
    return access.strides[dim] == access.strides[dim + 1] * sizes[dim + 1];
  };
  return all_of(uses,
                [&](auto &entry) { return joins(entry.second.access); }) &&
         all_of(outputs,
                [&](Value output) { return joins(getAccess(output)); });
}

int64_t KernelSpace::findRowLanes(ArrayRef<Value> outputs) const {
  RowOrder order;
  unsigned first = sizes.size();
  while (first > 0 && reduced[first - 1])
    order.elements *= sizes[--first];
  for (unsigned d = 0; d < first; ++d)
    if (reduced[d])
      order.rows *= sizes[d];
  int64_t lanes = 1, most = 0;
  for (unsigned d = sizes.size(); d-- > first;) {
    if (d + 1 != sizes.size() && !walksAsOne(d, outputs))
      break;
    lanes *= sizes[d];
    if (order.allows(lanes))
      most = lanes;
  }
  return most;
}

void KernelSpace::collapse(ArrayRef<Value> outputs,
                           SmallVectorImpl<bool> &outer, int64_t lanes) {
  for (unsigned d = 0; d + 1 < sizes.size();) {
    bool isLimit =
        ShapedType::getNumElements(ArrayRef(sizes).drop_front(d + 1)) == lanes;
    bool join = !isLimit && outer[d] == outer[d + 1] &&
                reduced[d] == reduced[d + 1] && summed[d] == summed[d + 1] &&
                walksAsOne(d, outputs);
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
    summed.erase(summed.begin() + d + 1);
    outer.erase(outer.begin() + d + 1);
  }
}
