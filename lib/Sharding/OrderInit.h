//===- OrderInit.h - One unit after the other -------------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_ORDERINIT_H
#define WEFT_LIB_SHARDING_ORDERINIT_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Puts what each write needs next to each other, so that the wholes of which a
/// rank keeps slices are gone before the next ones are made.
void orderByWrites(ProgramOp program);

} // namespace weft

#endif // WEFT_LIB_SHARDING_ORDERINIT_H
