//===- InspectSharding.h - What the ranks of a program hold -----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_INSPECTSHARDING_H
#define WEFT_TOOLS_WEFT_INSPECTSHARDING_H

#include "weft/Formats/Json.h"

namespace weft {

/// What the fields `mesh`, `sharding` and `parameters` of the metadata say,
/// with what follows from them: `ranks`, `zero`, `mesh`, `bytes` of a rank and
/// of all by kind of state; of each of `buckets` `elements`, `padding`,
/// `states` and `ranges`, the [begin, end) that each rank holds of the
/// parameters; of each of `parameters` `bucket`, `begin`, `end`, whether every
/// rank holds all of it (`whole`), and `ranks`, the first and last one of
/// neighbours that hold some. `ranges` and `ranks` end after 1024 entries: a
/// rank holds what the one `slices` before it does.
/// Null for one rank without a mesh; exit 3 if the fields contradict each
/// other.
Expected<Json> expandSharding(const Json &metadata);

/// Prints that object as tables.
void printSharding(const Json &sharding);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INSPECTSHARDING_H
