//===- PitchedRows.cpp - Layouts with padded rows -------------------------===//

#include "weft/Layout/LayoutQueries.h"

using namespace llvm;

using namespace weft;

Layout Layout::getPitched(ArrayRef<int64_t> sizes, int64_t pitch) {
  Layout layout = getDense(sizes);
  if (pitch == 0 || sizes.empty())
    return layout;
  int64_t stride = pitch;
  for (size_t i = sizes.size() - 1; i-- > 0; stride *= sizes[i])
    layout.strides[i] = stride;
  return layout;
}

bool Layout::isLike(const Layout &other) const {
  if (sizes != other.sizes)
    return false;
  for (auto [size, own, others] : zip(sizes, strides, other.strides))
    if (size != 1 && own != others)
      return false;
  return true;
}

bool weft::isSamePlace(const Layout &a, const Layout &b) {
  std::optional<Layout> other = b.reshape(a.sizes);
  return other && a.offset == other->offset && a.isLike(*other);
}

std::optional<int64_t> weft::getLastColumn(const Layout &layout,
                                           int64_t columns) {
  int64_t last = layout.offset % columns;
  for (auto [size, stride] : zip(layout.sizes, layout.strides)) {
    if (size == 1 || stride % columns == 0)
      continue;
    if (stride < 0 || stride > columns)
      return std::nullopt;
    last += (size - 1) * stride;
  }
  return last < columns ? std::optional(last) : std::nullopt;
}

std::optional<Layout> Layout::spreadRows(int64_t columns, int64_t pitch) const {
  if (!getLastColumn(*this, columns))
    return std::nullopt;
  auto place = [&](int64_t element) {
    return element / columns * pitch + element % columns;
  };
  Layout spread = *this;
  spread.offset = place(offset);
  for (int64_t &stride : spread.strides)
    stride = place(stride);
  return spread;
}
