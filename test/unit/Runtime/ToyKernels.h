//===- ToyKernels.h - Commands of the hand-written programs -----*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_RUNTIME_TOYKERNELS_H
#define WEFT_TEST_UNIT_RUNTIME_TOYKERNELS_H

#include "weft/Abi/Executable.h"
#include "weft/Abi/Philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>

/// A library command over some arena offsets.
inline WeftCommand toyCommand(const char *name, WeftLibraryFn function,
                              const int64_t *offsets, int32_t count) {
  WeftCommand command = {};
  command.name = name, command.scope = "toy", command.library = function;
  command.offsets = offsets, command.numBuffers = count, command.grain = 1;
  return command;
}

#endif // WEFT_TEST_UNIT_RUNTIME_TOYKERNELS_H
