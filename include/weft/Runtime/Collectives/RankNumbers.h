//===- RankNumbers.h - Numbers of all ranks ---------------------*- C++ -*-===//
//
// Numbers that a run gathers outside its programs. Results are bitwise equal on
// all ranks: sums are taken in rank order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_RANKNUMBERS_H
#define WEFT_RUNTIME_COLLECTIVES_RANKNUMBERS_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"

#include <string>
#include <vector>

namespace weft {

/// Numbers of all ranks, by rank. All ranks have the same count.
using RankNumbers = std::vector<std::vector<double>>;

/// Gathers `own` of each rank. Exit 7 on a rank that has left the run.
Expected<RankNumbers> gatherNumbers(WeftContext &context,
                                    const std::vector<double> &own,
                                    const std::string &title);

/// The sum over all ranks of number `i`.
double sumOverRanks(const RankNumbers &all, size_t i);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_RANKNUMBERS_H
