//===- InspectSharding.h - What the ranks of a program hold -----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_INSPECTSHARDING_H
#define WEFT_TOOLS_WEFT_INSPECTSHARDING_H

#include "weft/Formats/Json.h"

namespace weft {

/// The fields `mesh`, `sharding` and `parameters` of the metadata and the
/// values derived from them, as an object:
/// - `ranks`, `zero`, `mesh`;
/// - `bytes`: bytes of a rank and of the whole state, by kind of state;
/// - `buckets`: `elements`, `padding`, `states` and `ranges` of each, where
///   `ranges` is the [begin, end) of the parameters that each rank holds;
/// - `parameters`: `bucket`, `begin`, `end`, `whole` (every rank holds all of
///   it) and `ranks` of each, where `ranks` is the first and the last of
///   neighbouring ranks that hold a part.
///
/// `ranges` and `ranks` end after 1024 entries; later ranks repeat the entry
/// `slices` ranks before them. Null for one rank without a mesh. Exit 3 if the
/// fields contradict each other.
Expected<Json> expandSharding(const Json &metadata);

/// Prints that object as tables.
void printSharding(const Json &sharding);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INSPECTSHARDING_H
