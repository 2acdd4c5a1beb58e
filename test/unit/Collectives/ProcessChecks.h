//===- ProcessChecks.h - Checks of ranks that are processes -----*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_COLLECTIVES_PROCESSCHECKS_H
#define WEFT_TEST_UNIT_COLLECTIVES_PROCESSCHECKS_H

#include "weft/Runtime/Collectives/Processes.h"

namespace weft {

/// Runs all checks on this rank, which the other processes do in the same
/// order. The first rank prints results, the others what has failed. Returns
/// the exit status.
int runChecks(RankProcess &process, const char *suite, int argc, char **argv);

} // namespace weft

#endif // WEFT_TEST_UNIT_COLLECTIVES_PROCESSCHECKS_H
