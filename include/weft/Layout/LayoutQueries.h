//===- LayoutQueries.h - Relations between layouts --------------*- C++ -*-===//

#ifndef WEFT_LAYOUT_LAYOUTQUERIES_H
#define WEFT_LAYOUT_LAYOUTQUERIES_H

#include "weft/Layout/Layout.h"

namespace weft {

/// Whether two layouts of one root are the same elements in the same order,
/// whatever their shapes.
bool isSamePlace(const Layout &a, const Layout &b);

/// The last column of a dense root of rows of `columns` elements that elements
/// of the layout lie in. Nothing if steps of one dimension cross from row to
/// row in different ways.
std::optional<int64_t> getLastColumn(const Layout &layout, int64_t columns);

} // namespace weft

#endif // WEFT_LAYOUT_LAYOUTQUERIES_H
