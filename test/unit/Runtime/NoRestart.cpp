//===- NoRestart.cpp - Tests that call weftMain stay one process ----------===//
//
// A program that finds libgomp without a bounded spin starts itself again. The
// binary of tests would begin anew under the name of a toy program.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>

[[maybe_unused]] static const int kHasSpinCount =
    setenv("GOMP_SPINCOUNT", "1000", /*overwrite=*/0);
