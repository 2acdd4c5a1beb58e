//===- NanCauses.h - First non-finite value of all ranks --------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_NANCAUSES_H
#define WEFT_RUNTIME_RUN_NANCAUSES_H

#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Reports/NanHunt.h"

namespace weft {

/// The cause of this rank as a text for the other ranks; "" for none.
std::string formatNanCause(const NanCause &cause);

/// A sentence about the first cause of all ranks, with its rank if there are
/// several; "" for none. `texts` has the causes of the ranks, by rank.
std::string describeFirstCause(const std::vector<std::string> &texts);

/// The same by a vote of all ranks after a step with values that are not
/// finite. If a rank has left, the cause of this rank.
std::string findFirstCause(Consensus &consensus, int64_t step,
                           const NanCause &own);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_NANCAUSES_H
