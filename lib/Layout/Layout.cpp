//===- Layout.cpp - Strides and offsets of a buffer -----------------------===//

#include "weft/Layout/Layout.h"

using namespace llvm;

using namespace mlir;
using namespace weft;

Layout Layout::get(MemRefType type) {
  // The two usual forms are read off; the general way goes through affine
  // expressions, and every command asks for the layouts of its buffers.
  MemRefLayoutAttrInterface form = type.getLayout();
  auto strided = dyn_cast<StridedLayoutAttr>(form);
  if (!strided && form.isIdentity() && type.hasStaticShape())
    return getDense(type.getShape());
  Layout layout;
  layout.sizes.assign(type.getShape().begin(), type.getShape().end());
  if (strided) {
    layout.strides.assign(strided.getStrides().begin(),
                          strided.getStrides().end());
    layout.offset = strided.getOffset();
    return layout;
  }
  if (failed(type.getStridesAndOffset(layout.strides, layout.offset)))
    return getDense(type.getShape());
  return layout;
}

Layout Layout::getDense(ArrayRef<int64_t> sizes) {
  Layout layout;
  layout.sizes.assign(sizes.begin(), sizes.end());
  layout.strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i])
    layout.strides[i] = stride;
  return layout;
}

bool Layout::isDense() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0; expected *= sizes[i])
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
  return true;
}

MemRefType Layout::getType(Type element) const {
  Layout dense = getDense(sizes);
  if (offset == 0 && dense.strides == strides)
    return MemRefType::get(sizes, element);
  auto layout = StridedLayoutAttr::get(element.getContext(), offset, strides);
  return MemRefType::get(sizes, element, layout);
}

/// Merges neighbouring dimensions that one stride can walk; drops size 1.
static void coalesce(const Layout &layout, SmallVectorImpl<int64_t> &sizes,
                     SmallVectorImpl<int64_t> &strides) {
  for (auto [size, stride] : zip(layout.sizes, layout.strides)) {
    if (size == 1)
      continue;
    if (!sizes.empty() && strides.back() == size * stride) {
      sizes.back() *= size;
      strides.back() = stride;
      continue;
    }
    sizes.push_back(size);
    strides.push_back(stride);
  }
}

static int64_t getCount(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

std::optional<Layout> Layout::reshape(ArrayRef<int64_t> newSizes) const {
  if (getCount(sizes) != getCount(newSizes))
    return std::nullopt;
  if (getCount(sizes) == 0) {
    Layout empty = getDense(newSizes);
    empty.offset = offset;
    return empty;
  }
  SmallVector<int64_t> runs, runStrides;
  coalesce(*this, runs, runStrides);
  Layout result = getDense(newSizes);
  result.offset = offset;
  // From the last dimension: cut each run into new dimensions.
  size_t run = runs.size();
  int64_t left = 1, stride = 1;
  for (size_t i = newSizes.size(); i-- > 0;) {
    if (newSizes[i] == 1)
      continue;
    if (left == 1) {
      if (run == 0)
        return std::nullopt;
      left = runs[--run];
      stride = runStrides[run];
    }
    if (left % newSizes[i] != 0)
      return std::nullopt;
    result.strides[i] = stride;
    stride *= newSizes[i];
    left /= newSizes[i];
  }
  return result;
}
