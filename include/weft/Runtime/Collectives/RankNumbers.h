//===- RankNumbers.h - Numbers that all ranks come to know ------*- C++ -*-===//
//
// What a run joins beside its programs. Results are the same on all ranks, bit
// by bit: sums are taken in their order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_RANKNUMBERS_H
#define WEFT_RUNTIME_COLLECTIVES_RANKNUMBERS_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"

#include <string>
#include <vector>

namespace weft {

/// Numbers of all ranks, by rank; each has as many.
using RankNumbers = std::vector<std::vector<double>>;

/// What each rank has in `own`: exit 7 of a rank that has left the others.
Expected<RankNumbers> gatherNumbers(WeftContext &context,
                                    const std::vector<double> &own,
                                    const std::string &title);

/// The sum over all ranks of number `i`.
double sumOverRanks(const RankNumbers &all, size_t i);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_RANKNUMBERS_H
